"""Increments inside of expressions, and elements at data of arrays with rows, compared with gcc."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.c_code import compilers

import loopwright

HEAD = "void f(int n, int m, int *A, int *B, double *x, double *y) {{\n"
FORM = HEAD + "#pragma scop\n    {0}\n#pragma endscop\n}}\n"
BODIES = (
    "int k = 0; for (int i = 0; i < n; i++) if (x[i] > 0.5) y[k++] = x[i]; A[0] = k;",
    "int k = 0; for (int i = 0; i < n; i++) for (int j = i; j < m; j++) y[k++] = x[j] - i;",
    "int k = -1, l = 3; for (int i = 0; i < n; i++) y[++k] = x[i] * l--;",
    "int k = 0; for (int i = 0; i < n; i++) { int q = A[k++] + B[i]; y[q] = k; B[A[i]]++; }",
    "int k = 0, l = n; for (int i = 0; i < n; i++) { double t = x[k++] + x[--l]; y[i] = t; }",
    "int k = 0; for (int i = 0; i < n; i++) { A[i] = B[k += 2] + 1; }",
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i * m + j] = x[A[i] * m + j];",
    "for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) y[i * m + j] = 0; }"
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[A[i] * m + j] += x[i * m + j];",
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) B[i * m + j] ="
    " A[((i + n - 1) % n) * m + (j + 1) % m] - A[i * m + j];",
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i * m + (m - 1 - j)] ="
    " x[i * m + j];",
)


def _arguments() -> list[np.ndarray]:
    random = np.random.default_rng(1)
    A, B = (random.integers(0, 3, (7, 9)).astype(np.int32).ravel() for _ in "AB")
    return [A, B, random.random(63), random.random(63)]


@pytest.mark.parametrize("body", BODIES)
def test_the_same_as_gcc(body: str, tmp_path: Path) -> None:
    path, library = tmp_path / "f.c", tmp_path / "f.so"
    path.write_text(FORM.format(body))
    flags = ("-O0", "-w", "-ffp-contract=off", "-shared", "-fPIC")
    subprocess.run([compilers()[0], *flags, str(path), "-o", str(library)], check=True)
    function = loopwright.load(path)["f"]
    for n, m in ((0, 4), (1, 3), (5, 3), (7, 9)):
        expected = _arguments()
        pointers = [each.ctypes.data_as(ctypes.c_void_p) for each in expected]
        ctypes.CDLL(str(library)).f(n, m, *pointers)
        for schedule in (None, "default"):
            found = _arguments()
            given: dict[str, object] = dict(zip(("A", "B", "x", "y"), found, strict=True))
            given |= {"n": n, "m": m}
            arguments: list[object] = []
            for each in function.signature.arguments:
                value = given[each.place.name]
                if isinstance(value, np.ndarray) and len(getattr(each, "shape", ())) == 2:
                    value = value[: value.size // m * m].reshape(-1, m)
                arguments.append(value)
            function.compile(schedule, threads=2)(*arguments)
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-13)
