"""Assignments that are values, `x = y++`, and the comma operator, compared with gcc."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.c_code import compilers

import loopwright

HEAD = """#include <math.h>
#define ROTATE(a, b) (((a) << (b)) | ((a) >> (32 - (b))))
#define QUARTER(a, b, c) (a += b, c ^= a, c = ROTATE(c, 7))
void f(int n, int *A, int *B, double *x, unsigned char *c, unsigned *u) {{
#pragma scop
    for (int i = 1; i < n; i++) {{
        {0}
    }}
#pragma endscop
}}
"""
BODIES = (
    "A[i] = B[i]++;",
    "A[i] = --B[i];",
    "x[i] = B[i]--;",
    "A[i] = c[i]++; B[i] = ++c[i - 1];",
    "int k = i; A[i] = k++; B[i] = k;",
    "int k = 3 * i, m = k++; k += 2; A[i] = m; B[i] = ++k;",
    "double t = x[i] /= x[i - 1] + 3.0; B[i] = t * 4;",
    "int t = c[i] = 300 + A[i]; B[i] = t;",
    "A[i] = c[i] = x[i] * 28.3;",
    "A[i] += B[i] -= 3;",
    "double t; A[i] = t = 2.75; x[i] = t;",
    "A[i] = x[i]++;",
    "QUARTER(u[i], u[i - 1], u[0]); A[i] = 1, B[i] = A[i] + 1;",
    "((A[i] = 2), (B[i] += A[i]));",
    "int v = i, k = 0; do { v = v & 1 ? 3 * v + 1 : v / 2; k++; } while (v > 1 && k < 90); A[i] = k;",  # noqa: E501
    "do { A[i]++; if (A[i] % 5 == 0) continue; B[i] += 2; } while (A[i] < 7);",
    "do { A[i] = B[i]; if (A[i] > 2) continue; A[i] = 9; } while (0);",
    "if (A[i] > 3) { int k = 7; B[i] = k--; A[i] = k; } else A[i] = B[i - 1]++;",
)


def _arguments() -> list[np.ndarray]:
    random = np.random.default_rng(1)
    A, B = (random.integers(-9, 9, 40).astype(np.int32) for _ in "AB")
    c = random.integers(0, 256, 40).astype(np.uint8)
    return [A, B, random.random(40) * 9, c, random.integers(0, 1 << 32, 40).astype(np.uint32)]


@pytest.mark.parametrize("body", BODIES)
def test_values_of_assignments(body: str, tmp_path: Path) -> None:
    path, library = tmp_path / "f.c", tmp_path / "f.so"
    path.write_text(HEAD.format(body))
    flags = ("-O0", "-w", "-fwrapv", "-shared", "-fPIC")
    subprocess.run([compilers()[0], *flags, str(path), "-lm", "-o", str(library)], check=True)
    for n in (0, 1, 2, 40):
        expected = _arguments()
        pointers = [each.ctypes.data_as(ctypes.c_void_p) for each in expected]
        ctypes.CDLL(str(library)).f(n, *pointers)
        function = loopwright.load(path)["f"]
        for schedule in (None, "default"):
            found = _arguments()
            names = [each.place.name for each in function.signature.arguments]
            given = dict(zip(("A", "B", "x", "c", "u"), found, strict=True))
            kernel = function.compile(schedule, threads=2)
            kernel(*(n if name == "n" else given[name] for name in names))
            np.testing.assert_equal(found, expected)
