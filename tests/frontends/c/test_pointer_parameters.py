"""Functions of pointers in expressions: accessors, products of short vectors; compared with gcc."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.c_code import assert_same_as_compiled

HEAD = """
typedef struct { int rows, cols; const double *data; } mat;
typedef struct { double x, y, z; } vec;
static double at(const double *a, int m, int i, int j) { return a[i * m + j]; }
static double of(const mat *a, int i, int j) { return a->data[i * a->cols + j]; }
static double dot3(const double *a, const double *b) { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2]; }
static double length2(const double p[3], const double q[3]) {
    double dx = p[0] - q[0], dy = p[1] - q[1];
    const float dz = p[2] - q[2];
    return dx * dx + dy * dy + dz * dz;
}
static float narrow(const double *a, short k) { return a[k]; }
static double first_positive(const double *a, int i) { if (a[i] > 0.5) return a[i]; return -a[i]; }
static double twice(const double *a, int i) { return at(a, 1, i, 0) + at(a + 1, 1, i, 0); }
static double norm(const vec *v) { return v->x * v->x + v->y * v->y + v->z * v->z; }
static double around(double (*g)[9], int i, int j) { return g[i][j - 1] + g[i][j + 1]; }
void f(int n, int m, const double *a, double *b, double A[9][9], int *c, vec *v) {
#pragma scop
    BODY
#pragma endscop
}
"""
ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) "
EACH = "for (int i = 0; i < n; i++) "
BODIES = (
    ROWS + "b[i * m + j] = at(a, m, i, j) + 1;",
    EACH + "b[i] = dot3(a + 3 * i, &a[3 * i + 1]) - dot3(&b[30], A[i]);",
    EACH + "b[i] = length2(&a[3 * i], a);",
    EACH + "b[i] = narrow(a, 65538) + narrow(a, 2.75);",
    EACH + "b[i] = first_positive(a, i) * 2;",
    EACH + "b[i] = twice(a, i + 1) + twice(a + i, 2);",
    EACH + "{ v[i].x = norm(&v[i]); b[i] = norm(v + i); }",
    EACH + "b[i] = at(a, 1, c[i] & 31, 0);",
    "for (int i = 0; i < n; i++) for (int j = 1; j < 8; j++) b[9 * i + j] = around(A, i, j);",
    EACH + "if (at(a, 1, i, 0) > at(b, 1, i, 0)) b[i] = at(a, 1, at(a, 1, i, 0) > 0.5, 0);",
)


def _arguments() -> dict[str, np.ndarray]:
    random = np.random.default_rng(1)
    a, b, A, v = (random.random(shape) for shape in (99, 99, (9, 9), (30, 3)))
    return {"a": a, "b": b, "A": A, "c": np.arange(99, dtype=np.int32), "v": v}


@pytest.mark.parametrize("body", BODIES)
def test_functions_of_pointers(body: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(HEAD.replace("BODY", body))
    assert_same_as_compiled(path, ((1, 1), (5, 3), (8, 9)), _arguments)
