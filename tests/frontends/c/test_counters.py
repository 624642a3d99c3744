"""Integers that count along with loops, `p[k++] = x`: their values, compared with gcc."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.c_code import assert_same_as_compiled

import loopwright
from loopwright.passes.polyhedral.descriptions import describe_access

HEAD = "void f(int n, int m, const double *a, double *b, int *c) {{\n"
FORM = HEAD + "#pragma scop\n    {0}\n#pragma endscop\n}}\n"
BODIES = (
    "int k = 0; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) b[k++] = a[i + j];",
    "int k = 0; for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) b[k++] = a[i] - a[j];",
    "int k = 5; for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) b[k++] = a[i] + a[j];",
    "int k = -1; for (int i = 0; i < n; i++) { k += 2; b[i] = a[k] + a[i]; }",
    "int k = -1; for (int i = 0; i < n; i++) { k++; b[k] = a[i]; k++; b[k] = -a[i]; }",
    "int k = 99; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) b[--k] = a[i] * j;",
    "long k = 0; for (int i = 1; i < n; i++) { k += i; b[k] = a[i]; c[i] = k; } c[0] = k;",
    "unsigned long k = 0; for (int i = 0; i < n; i += 2) { b[k] = a[i]; k += 3; } c[0] = k;",
    "int k = 0; for (int i = n - 1; i >= 0; i--) { for (int j = 0; j < m; j++) { b[k] = a[i];"
    " k = k + 1; } c[i] = k; } c[0] = k;",
    "int k = 0; for (int i = 0; i < n; i++) { k = i; for (int j = 0; j < m; j++) b[k++] = a[j]; }",
    "int k = 0, l = 0; for (int i = 0; i < n; i++) for (int j = 0; j < i; j++)"
    " { b[k++] = a[l]; l += 2; } c[0] = k + l;",
    "int k = 0; for (int i = 2; i <= n; i++) for (int j = i; j <= n; j++) b[k++] = a[j]; c[0] = k;",
    "int k = 0; for (int i = 0; i < n; i++) for (int j = 1; j < i; j++) b[k++] = a[j]; c[0] = k;",
    "int k = 0; for (int i = 0; i < n; i++) { if (i == 3) k++; b[i] = a[k]; }",
    "int k = 0; for (int i = 0; i < n; i++) { if (a[i] > 0.5) k++; b[i] = a[k]; }",
    "int k = 0; for (int i = 0; i < n; i++) { b[i] = a[k] * (k % 3) + k / 2; k += m; }",
    "int j = -1, k; for (int i = 0; i < n; i++) { k = j + 1; b[i] = a[k]; j = k + 1; b[j + 50] = 2;"
    " }",
    "int k = 0; for (int i = 0; i < n; i++) { if (a[i] > 0.5) { k++; b[k] = 1; }"
    " else { k++; b[k] = a[i]; } }",
    "int k = 0; for (int i = 0; i < n; i++) { if (a[i] > 0.5) k += 2; else k++; b[k] = a[i]; }",
    "short k = 0; for (int i = 0; i < n; i++) { b[i] = k < 7 ? a[k] : k; k += 2; }",
    "unsigned k = 0; for (int i = 0; i < n; i++) { b[k] = a[i]; k += 1; }",
    "int k = 0; for (int t = 0; t < 2; t++) for (int j = 0; j < m; j++)"
    " b[k++] = a[j] + t; c[0] = k + n;",
)


def _arguments() -> dict[str, np.ndarray]:
    random = np.random.default_rng(1)
    a, b = random.random(199), random.random(199)
    return {"a": a, "b": b, "c": np.arange(199, dtype=np.int32)}


@pytest.mark.parametrize("body", BODIES)
def test_variables_that_count(body: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(FORM.format(body))
    assert_same_as_compiled(path, ((0, 4), (1, 1), (5, 3), (8, 9)), _arguments)


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("int k = 0; for (i = 0; i < n; i++) for (j = 0; j < m; j++) b[k++] = a[i];", "i, j"),
        ("double *p = b; for (i = 0; i < n; i++) for (j = 0; j < m; j++) *p++ = 1;", "i, j"),
        ("int k = 1; for (i = 0; i < n; i++) { b[k] = a[i]; k += 2; }", "i * 2 + 1"),
        ("int k = n; for (i = 0; i < n; i++) b[--k] = a[i];", "n - i - 1"),
    ],
)
def test_elements_are_affine(body: str, written: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(f"void f(int n, int m, double *a, double *b) {{\nint i, j; {body}\n}}\n")
    scop = loopwright.load(path)["f"].scop
    (statement,) = scop.statements
    assert not statement.is_opaque
    assert describe_access(scop, statement, statement.writes[0]) == f"b[{written}]"


def test_loops_with_counters_that_begin_before_are_no_first_ones(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        "int g(int);\nvoid f(int n, double *a, double *b) {\n  int k = 0;\n"
        "  for (int t = 0; t < n; t++) {\n    g(t);\n"
        "    for (int i = 0; i < n; i++) { b[k] = a[i]; k++; }\n  }\n}\n"
    )
    kernel = loopwright.load(path)["f"].compile()
    a, b, k = np.arange(3.0), np.zeros(9), np.array(4, np.int32)
    kernel(3, a, b, k)
    assert b.tolist() == [0, 0, 0, 0, 0, 1, 2, 0, 0] and k == 7
