"""Drop-in sources with machine code: what the compiler makes of the original."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from support.arithmetic import UndefinedBehaviourError
from support.c_code import compilers
from support.c_functions import built, call, interpreted
from support.random_c import RandomFunction, random_function

import loopwright
from loopwright.cli import main
from loopwright.commands.cc import target_of
from loopwright.dialects.errors import SourceError
from loopwright.frontends.c.c_file import read_regions, read_source
from loopwright.passes.machine.target import Target

from .test_drop_in import PROGRAM, executed

EXACT = ("-ffp-contract=off",)

KINDS = """\
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 37
static void product(int n, int m, int k, TYPE A[n][k], TYPE B[k][m], TYPE C[n][m]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            TYPE sum = 0;
            for (int l = 0; l < k; l++)
                sum += A[i][l] * B[l][j];
            C[i][j] = sum;
        }
}
static void triangle(int n, TYPE L[n][n], TYPE *x) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++)
            x[i] -= L[i][j] * x[j];
        x[i] = x[i] / (L[i][i] + 1);
    }
}
static void transposed(long n, const TYPE *restrict A, TYPE *restrict B) {
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            B[j * n + i] = A[i * n + j] + 1;
}
int main(void) {
    static TYPE A[N][N], B[N][N], C[N][N], x[N];
    double check = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            A[i][j] = (TYPE)((i * 7 + j * 3) % 11);
            B[i][j] = (TYPE)((i + 2 * j) % 5);
        }
    for (int n = 0; n < N; n += 5) {
        product(n, N - n, N, (void *)A, (void *)B, (void *)C);
        check += (double)C[n / 2][3];
        x[n] = (TYPE)(n + 1);
    }
    triangle(N, A, x);
    transposed(N, &A[0][0], &B[0][0]);
    transposed(5, &A[0][0], &A[0][0] + 7);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            check += (double)C[i][j] * i + (double)A[i][j] + (double)B[i][j] * j + (double)x[j];
    printf("%.17g\\n", check);
    return 0;
}
"""


def drop_in(source: Path, output: Path, *flags: str) -> tuple[str, ...]:
    made = loopwright.drop_in(source, output, cflags=[*flags, *EXACT], machine_code=True)
    return made.replaced


@pytest.mark.parametrize("compiler", compilers())
@pytest.mark.parametrize("kind", ["double", "float", "int", "short", "unsigned char", "long"])
def test_types_and_compilers(compiler: str, kind: str, tmp_path: Path) -> None:
    original, output = tmp_path / "program.c", tmp_path / "output.c"
    original.write_text(KINDS.replace("TYPE", kind))
    assert {"product", "triangle", "transposed"} <= set(drop_in(original, output))
    assert "__asm__(" in output.read_text()
    expected = executed(compiler, original, "-O0")
    for flags in (("-O0",), ("-O2", "-g"), ("-O1", "-fPIC", "-pie")):
        assert executed(compiler, output, *flags) == expected


@pytest.mark.parametrize("compiler", compilers())
def test_checks_in_front_of_machine_code(compiler: str, tmp_path: Path) -> None:
    original, output = tmp_path / "program.c", tmp_path / "output.c"
    original.write_text(PROGRAM.replace("#pragma scop\n", "").replace("#pragma endscop\n", ""))
    assert len(drop_in(original, output)) == 6
    assert executed(compiler, output, "-O1") == executed(compiler, original, "-O0")


def check(seeds: Sequence[int], folder: Path) -> int:
    """Compares the functions of these seeds; says how many are replaced."""
    functions: dict[str, RandomFunction] = {}
    for seed in seeds:
        # Optimised code does not write under conditions on data.
        function = random_function(seed, branches=False)
        path = folder / "one.c"
        path.write_text(function.text)
        try:
            (translation,) = read_regions(read_source(path)).translations
            interpreted(translation, function)
        except (SourceError, UndefinedBehaviourError):
            continue  # the C has no meaning
        functions[f"f{seed}"] = function
    expected = built({name: each.text for name, each in functions.items()}, folder)
    together = folder / "together.c"
    together.write_text((folder / "all.c").read_text())
    output = folder / "output.c"
    replaced = drop_in(together, output, "-std=gnu17")
    library = _library(output)
    for name, function in functions.items():
        wanted = call(expected, name, function)
        for key, found in call(library, name, function).items():
            if isinstance(found, np.ndarray):
                equal_nan = found.dtype.kind == "f"
                same = np.array_equal(found, wanted[key], equal_nan=equal_nan)
                assert same, f"{function.text}\n{key}: {found}\n{wanted[key]}"
    return len(replaced)


def _library(source: Path) -> ctypes.CDLL:
    library = source.with_suffix(".so")
    flags = ("-std=gnu17", "-O1", "-w", "-fwrapv", "-ffp-contract=off", "-fPIC", "-shared")
    command = [compilers()[0], *flags, str(source), "-lm", "-o", str(library)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


def test_random_functions(tmp_path: Path) -> None:
    assert check(range(8), tmp_path) >= 6


@pytest.mark.campaign
@pytest.mark.parametrize("first", range(20_000, 22_000, 50))
def test_campaign(tmp_path: Path, first: int) -> None:
    check(range(first, first + 50), tmp_path)


def test_options_of_a_compiler() -> None:
    assert target_of(["-O3", "-march=native", "-std=c99"]) == Target.host()
    assert target_of(["-march=znver4"]) == (Target.named("znver4") if _is_x86() else None)
    for others in (["-O3"], ["-march=unheard-of"], ["-march=native", "-flto"]):
        assert target_of(others) is None
    assert target_of(["-march=native", "-mno-avx2"]) is None
    assert target_of(["-march=native", "-fsanitize=address"]) is None


def _is_x86() -> bool:
    return Target.host().architecture == "x86_64"


def test_cc_embeds_machine_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(KINDS.replace("TYPE", "double"))
    monkeypatch.setenv("LOOPWRIGHT_CC", compilers()[0])
    options = ["-O2", "-march=native", "-ffp-contract=off", str(source), "-lm"]
    assert main(["cc", *options, "-o", str(program)]) == 0
    done = subprocess.run([str(program)], capture_output=True, text=True, check=True)
    assert done.stdout == executed(compilers()[0], source, "-O0")
    assert main(["cc", "-S", *options[:-1], "-o", str(program)]) == 0
    assert "loopwright_product_loops:" in program.read_text()
