"""Accesses under conditions on data in drop-in sources: there may be no such elements."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.c_code import compilers

import loopwright

SOMETIMES = {
    "chosen": "B[i] = c[i] ? A[i] : 1.0;",
    "one branch": "double t = 0; if (c[i] > 0) t = A[i]; B[i] = t;",
    "both branches, other elements": "if (c[i]) B[i] = A[i]; else B[i] = A[i + 1];",
    "second condition": "B[i] = c[i] && A[i] > 0 ? 1.0 : 2.0;",
    "an element more": "B[i] = c[i] ? A[i + 1] : A[i];",
}
ALWAYS = {
    "tested": "B[i] = A[i] > 0 ? A[i] : 1.0;",
    "both branches": "if (c[i]) B[i] = A[i]; else B[i] = -A[i];",
    "before it": "double t = A[i]; if (c[i]) t += A[i] * 2; B[i] = t;",
    "by other iterations": "double t = A[i] + A[i + 1]; if (c[n - 1 - i]) t = A[n - i]; B[i] = t;",
    "a whole array": "B[i] = c[i] ? T[i & 7] : 1.0;",
    "affine": "B[i] = i > 3 ? A[i] : 1.0;",
}


def _source(body: str, folder: Path) -> Path:
    path = folder / "f.c"
    path.write_text(
        "#include <stdio.h>\n#include <stdlib.h>\nstatic double T[8];\n"
        "__attribute__((noinline))\n"
        "static void f(int n, const int *c, const double *A, double *B) {\n"
        f"    for (int i = 0; i < n; i++) {{ {body} }}\n}}\n"
        "int main(void) {\n"
        "    static int c[999];\n    static double B[999];\n"
        "    f(999, c, NULL, B);\n"
        '    printf("%g %g\\n", B[0], B[998]);\n    return T[0] > 0;\n}\n'
    )
    return path


@pytest.mark.parametrize("machine_code", [False, True])
@pytest.mark.parametrize("name", ["chosen", "one branch", "second condition"])
def test_what_the_program_does_not_access(name: str, machine_code: bool, tmp_path: Path) -> None:
    path, program = _source(SOMETIMES[name], tmp_path), tmp_path / "program"
    output = tmp_path / "g.c"
    found: list[str] = []
    loopwright.drop_in(path, output, machine_code=machine_code)
    for file in (path, output):
        command = [compilers()[0], "-O2", "-march=native", str(file), "-o", str(program)]
        subprocess.run(command, check=True)
        done = subprocess.run([str(program)], capture_output=True, text=True, check=True)
        found.append(done.stdout)
    assert found[0] == found[1] != ""


@pytest.mark.parametrize("name", SOMETIMES)
def test_elements_that_there_may_not_be(name: str, tmp_path: Path) -> None:
    made = loopwright.drop_in(_source(SOMETIMES[name], tmp_path), tmp_path / "g.c")
    assert not made.replaced
    assert "elements of 'A' are accessed under a condition on data" in str(made.left_out[0])


@pytest.mark.parametrize("name", ALWAYS)
def test_elements_that_are_accessed_in_any_case(name: str, tmp_path: Path) -> None:
    made = loopwright.drop_in(_source(ALWAYS[name], tmp_path), tmp_path / "g.c")
    assert made.replaced == ("f",)
