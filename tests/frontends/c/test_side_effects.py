"""Increments inside of expressions, and elements at data of arrays with rows, compared with gcc."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.c_code import assert_same_as_compiled

HEAD = (
    "#define MAX(a, b) ((a) > (b) ? (a) : (b))\n"
    "void f(int n, int m, int *A, int *B, double *x, double *y) {{\n"
)
FORM = HEAD + "#pragma scop\n    {0}\n#pragma endscop\n}}\n"
BODIES = (
    "double t; for (int i = 0; i < n; i++) y[i] = (t = x[i] * 2, t * t + 1);",
    "int k; for (int i = 0; i < n; i++) { int q = (k = A[i], k += B[i], k * 2); B[i] = q + k; }",
    "for (int i = 0; i < n; i++) x[i] = 1.5, y[i] = (x[i] += 2.0, x[i] * 3.0);",
    "int k = 0; for (int i = 0; i < n; i++) A[i] = 3 * (k++, (k += 2, k) + B[i]);",
    "int i, j; for (i = 0, j = n - 1; i < j; i++, j--) { double t = (x[i] *= 2, x[j]); x[j] = t; }",
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
    "double b, t; for (int i = 0; i < n; i++) { y[i] = x[i] / (b = x[i] + 2); y[i] += t = b * b; }",
    "double d, best = 0.3; int k = 0; for (int i = 0; i < n; i++)"
    " if ((d = x[i] - 0.5) < best && d > -0.4) { best = d; k = i; } A[0] = k;",
    "short s; for (int i = 0; i < n; i++) { int q = (s = A[i] * 40000) + B[i]; B[i] = q - s; }",
    "int s, t; for (int i = 0; i < n; i++) B[i] = (s = A[i] + (t = B[i])) > 2 ? s : t;",
    "int u = 0; for (int i = 0; i < n; i++) if (B[A[i]]++ == 1) u++; A[0] = u;",
    "int u = 0; for (int i = 0; i < n; i++) if (--B[A[i]] < 0 || u > 3) u += 2; A[0] = u;",
    "int k = n; for (int i = 0; i < n; i++) y[i] += A[i] > 1 ? x[k--] : 2 * x[i];",
    "for (int i = 1; i < n; i++) { double v = x[i]; int j = i; while (j-- > 0 && x[j] > v)"
    " x[j + 1] = x[j]; x[j + 1] = v; }",
    "int i = 0; double v; while (i < n && (v = x[i]) > 0.2) { y[i] = v; i++; } A[0] = i;",
    "for (int i = 0; i < n; i++) { int v = A[i] + 9, c = 0; while ((v /= 2) && c < m) c++;"
    " B[i] = c + v; }",
    r'char w[] = "ae\t\x7f\0" "i\377", v[4] = "abcd"; for (int i = 0; i < n; i++)'
    " B[i] = w[i] + v[A[i]];",
    r'static const signed char w[] = "xyz\x80"; for (int i = 0; i < n; i++) B[i] = w[A[i] + 1];',
    "for (int i = 0; i < n; i++) { int k = i; while (k-- > 0) { if (A[k] > 1) break; y[k] += 1; }"
    " B[i] = k; }",
    "int k = 0; do { if (A[k] == 2) continue; B[k] = k; } while (++k < n); A[0] = k;",
    "int k = 0, v = 0; if (n > 1) do { if (A[k] == 2) break; if (k == 4) continue; B[k] = k + v; }"
    " while ((v = A[++k]) != 1 && k < n); A[0] = k; A[1] = v;",
    "int k = n; if (n > 0) do { k--; if (A[k] == 2) { B[k] = 7; if (x[k] > 0.5) continue;"
    " B[k] = 8; } else if (A[k] < 1) continue; else if (B[k] > 1) break; B[k] += k; }"
    " while (k > 0); A[0] = k;",
    "for (int i = 0; i < n; i++) { do { if (A[i] > 1) { if (x[i] > 0.5) break; B[i] = 4; }"
    " for (int j = 0; j < m; j++) { if (A[j] > 1) break; B[i] += j; } } while (0); y[i] = 1; }",
    "int k = 0; for (; k++ < n; ) for (int j = 0; j++ < m;) y[k] += j; A[0] = k;",
    "int k = n; for (int i = 0; i < n; i++) { int l; k = l = (k--, k + A[i]); k = MAX(k, l);"
    " y[i] = (l = k) > 1 && l < 4 ? l : k; }",
    "for (int i = 0; i < n; i++) { int j = 0, v; while ((v = A[j]) != B[i]) { if (++j >= n) break;"
    " if (v == 1) continue; y[j] += v; } B[i] = j; }",
)


def _arguments() -> dict[str, np.ndarray]:
    random = np.random.default_rng(1)
    A, B = (random.integers(0, 3, (7, 9)).astype(np.int32).ravel() for _ in "AB")
    return {"A": A, "B": B, "x": random.random(63), "y": random.random(63)}


@pytest.mark.parametrize("body", BODIES)
def test_the_same_as_gcc(body: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(FORM.format(body))
    assert_same_as_compiled(path, ((0, 4), (1, 3), (5, 3), (7, 9)), _arguments)
