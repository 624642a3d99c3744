"""Rows that are longer or shorter than a size by a constant: what the C compiler computes."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.c_code import build, compilers

import loopwright

BODIES = {
    "a table of n + 1 times m + 1": "for (int i = 1; i <= n; i++) for (int j = 1; j <= m; j++) { "
    "double v = x[(i - 1) * (m + 1) + j] + 1, w = x[i * (m + 1) + j - 1] + y[i] * 0.3; "
    "x[i * (m + 1) + j] = v < w ? v : w; }",
    "an image with a border": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) "
    "y[i * m + j] = x[i * (m + 2) + j + 1] + x[(i + 2) * (m + 2) + j + 1] "
    "- x[(i + 1) * (m + 2) + j] / (x[(i + 1) * (m + 2) + j + 2] + 4);",
    "a cube with a border": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) "
    "for (int k = 0; k < n; k++) y[(i * n + j) * n + k] = "
    "x[((i + 1) * (n + 2) + j + 1) * (n + 2) + k + 1] - x[(i * (n + 2) + j) * (n + 2) + k];",
    "shorter rows": "for (int i = 0; i < n; i++) for (int j = 0; j < n - 1; j++) "
    "x[i * (n - 1) + j] = x[i * (n - 1) + j] * 2 + y[j];",
    "the last column": "for (int i = 0; i < n; i++) { for (int j = 0; j <= m; j++) "
    "x[i * (m + 1) + j] *= 2; x[i * (m + 1) + m] = x[i * (m + 1)]; }",
    "a first column": "for (int j = 0; j <= m; j++) x[j] = j * 0.5; "
    "for (int i = 1; i <= n; i++) { x[i * (m + 1)] = i; for (int j = 1; j <= m; j++) { "
    "double v = x[(i - 1) * (m + 1) + j], w = x[i * (m + 1) + j - 1] * 0.3; "
    "x[i * (m + 1) + j] = v < w ? v : w + x[(i - 1) * (m + 1) + j - 1]; } }",
    "colours": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) "
    "for (int c = 0; c < 3; c++) "
    "x[(i * m + j) * 3 + c] = y[(i * m + (m - 1 - j)) * 3 + c] * 0.5;",
    "from colours": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) "
    "x[i * m + j] = 0.3 * y[(i * m + j) * 4] + 0.6 * y[(i * m + j) * 4 + 1] "
    "+ y[4 * i * m + 4 * j + 3];",
    "every other row": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) "
    "x[2 * i * m + j] = y[i * m + j] + x[(2 * i + 1) * m + j];",
    "pairs by pointers": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { "
    "double *p = x + (i * m + j) * 2; const double *q = y + 2 * (i * m + j); "
    "double t = p[0] * q[1]; p[0] = p[1] / (2 + q[0] * q[0]); p[1] = t; }",
    "a diagonal": "for (int i = 0; i < n; i++) { x[i * n + i] += 1; "
    "for (int j = 0; j < n; j++) x[i * n + j] *= 1.1; }",
}


@pytest.mark.parametrize("machine_code", [False, True])
@pytest.mark.parametrize("name", BODIES)
def test_padded_rows(name: str, machine_code: bool, tmp_path: Path) -> None:
    text = f"void f(int n, int m, double *x, double *y) {{\n#pragma scop\n{BODIES[name]}\n"
    text += "#pragma endscop\n}\n"
    path, output, library = (tmp_path / each for each in ("f.c", "g.c", "g.so"))
    path.write_text(text)
    plain = build(compilers()[0], [text], tmp_path, "-O0", "-w", "-Wno-error")
    flags = ("-ffp-contract=off",)
    made = loopwright.drop_in(path, output, machine_code=machine_code, cflags=flags)
    assert made.replaced == ("f",)
    command = [compilers()[0], "-O2", "-march=native", *flags, "-w", "-shared", "-fPIC"]
    subprocess.run([*command, str(output), "-o", str(library)], check=True)
    for n, m in ((0, 0), (1, 1), (2, 5), (7, 3), (12, 12)):
        random = np.random.default_rng(n)
        expected = random.standard_normal((2, 4096))
        found = expected.copy()
        for function, arrays in ((plain.f, expected), (ctypes.CDLL(str(library)).f, found)):
            function(n, m, *(each.ctypes.data_as(ctypes.c_void_p) for each in arrays))
        np.testing.assert_array_equal(found, expected)


def test_subscripts_are_those_of_rows(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        "void f(int n, int m, double *x) {\n"
        "  for (int i = 1; i <= n; i++) for (int j = 1; j <= m; j++)\n"
        "    x[i * (m + 1) + j] += x[(i - 1) * (m + 1) + j - 1];\n}\n"
    )
    kernel = loopwright.load(path)["f"].compile()
    x = np.arange(12.0).reshape(3, 4)
    expected = x.copy()
    for i in (1, 2):
        for j in (1, 2, 3):
            expected[i, j] += expected[i - 1, j - 1]
    kernel(2, 3, x)
    np.testing.assert_array_equal(x, expected)
