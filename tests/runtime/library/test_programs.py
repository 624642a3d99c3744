"""C and C++ programs that use built libraries."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from support.c_code import WARNINGS, compilers
from support.c_libraries import SharedLibrary, run, run_program
from support.runtime_programs import DOT, GEMM, SAXPY, SCALARS

import loopwright

TILED = (
    "tile{loops=i,j,k sizes=8,16,8},interchange{loops=k,j},vectorize{loops=j},parallel{loops=it}"
)

MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include "gemm.h"

enum { NI = 21, NJ = 37, NK = 19 };

static void fill(double *array, int count, int seed) {
    for (int i = 0; i < count; i++) array[i] = (i * seed % 17) / 4.0 - 2.0;
}

int main(void) {
    static double A[NI][NK], B[NK][NJ], C[NI][NJ];
    fill(&A[0][0], NI * NK, 5);
    fill(&B[0][0], NK * NJ, 7);
    fill(&C[0][0], NI * NJ, 3);
    int status = gemm(CALL);
    if (status != LOOPWRIGHT_OK) return status;
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NJ; j++) printf("%.17g\\n", C[i][j]);
    return EXIT_SUCCESS;
}
"""
PASSED = "NI, NJ, NK, &C[0][0], NI, NJ, &A[0][0], NI, NK, &B[0][0], NK, NJ"
FIXED = "&C[0][0], &A[0][0], &B[0][0]"
SIZES = {
    "ni": 21,
    "nj": 37,
    "nk": 19,
    "C_dim0": 21,
    "C_dim1": 37,
    "A_dim0": 21,
    "A_dim1": 19,
    "B_dim0": 19,
    "B_dim1": 37,
}


def expected_product() -> NDArray[np.float64]:
    def fill(rows: int, columns: int, seed: int) -> NDArray[np.float64]:
        return (np.arange(rows * columns) * seed % 17 / 4.0 - 2.0).reshape(rows, columns)

    return fill(21, 37, 3) + fill(21, 19, 5) @ fill(19, 37, 7)


@pytest.mark.parametrize("compiler", compilers())
@pytest.mark.parametrize("name", ["gemm.o", "gemm.so"])
@pytest.mark.parametrize("fixed", [False, True])
def test_program_in_c(compiler: str, name: str, fixed: bool, tmp_path: Path) -> None:
    sizes = SIZES if fixed else {}
    library = loopwright.load(GEMM)["gemm"].build(tmp_path / name, TILED, sizes=sizes, threads=2)
    text = MAIN.replace("CALL", FIXED if fixed else PASSED)
    output = run_program(compiler, text, library)
    actual = np.array([float(line) for line in output.split()]).reshape(21, 37)
    np.testing.assert_array_equal(actual, expected_product())


@pytest.mark.parametrize(
    "language", [("c", "-std=c99"), ("c++", "-std=c++98"), ("c++", "-std=c++20")]
)
@pytest.mark.parametrize("compiler", compilers())
def test_headers(compiler: str, language: tuple[str, str], tmp_path: Path) -> None:
    """Two headers in one file, in both languages, without a warning."""
    driver = compiler.replace("gcc", "g++").replace("clang", "clang++")
    if language[0] == "c++" and shutil.which(driver) is None:
        pytest.skip(f"{driver} is not installed")
    loopwright.load(GEMM + DOT).build(tmp_path / "algebra.o", {"gemm": TILED, "dot": None})
    loopwright.load(SAXPY + SCALARS).build(tmp_path / "more.o", sizes={"n": 8})
    (tmp_path / "main.c").write_text('#include "algebra.h"\n#include "more.h"\n#include "more.h"\n')
    flags = [f for f in WARNINGS if f != "-Wno-unknown-pragmas"]
    command = [compiler if language[0] == "c" else driver, "-x", *language, *flags]
    run(*command, "-Wpedantic", "-Wno-long-long", "-fsyntax-only", "main.c", folder=tmp_path)


def test_program_in_cpp(tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    built = loopwright.load(DOT)["dot"].build(tmp_path / "dot.o")
    (tmp_path / "main.cpp").write_text(
        '#include "dot.h"\n#include <iostream>\n'
        "int main() {\n"
        "  double x[] = {1, 2, 3}, y[] = {4, 5, 6}, result;\n"
        "  int status = dot(3, x, 3, y, 3, &result);\n"
        "  std::cout << status << ' ' << result << std::endl;\n"
        "}\n"
    )
    run("g++", "main.cpp", built.file.name, "-o", "main", folder=tmp_path)
    assert run("./main", folder=tmp_path) == "0 32\n"


def test_only_the_functions_are_visible(tmp_path: Path) -> None:
    """Two libraries with the same helpers and counters link into one program."""
    first = loopwright.load(GEMM + SAXPY).build(
        tmp_path / "first.so", {"gemm": TILED, "saxpy": None}
    )
    code = SharedLibrary(first).code
    assert hasattr(code, "gemm") and hasattr(code, "saxpy")
    assert not hasattr(code, "loopwright_gemm")
    program = loopwright.load(GEMM)["gemm"]
    one = program.build(tmp_path / "one.o", TILED, prefix="one_")
    two = program.build(tmp_path / "two.o", prefix="two_")
    assert (one.functions, two.functions) == (("one_gemm",), ("two_gemm",))
    text = MAIN.replace('"gemm.h"', '"one.h"\n#include "two.h"').replace(
        "gemm(CALL)", f"one_gemm({PASSED}) + two_gemm({PASSED})"
    )
    (tmp_path / "main.c").write_text(text)
    compiler = compilers()[0]
    run(compiler, "main.c", "one.o", "two.o", "-lgomp", "-o", "main", folder=tmp_path)
    assert len(run("./main", folder=tmp_path).split()) == 21 * 37
