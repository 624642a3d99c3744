"""Elements that are structures of structures and arrays, compared with what gcc makes of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.c_code import compilers

import loopwright

from .test_structures import executed

PROGRAM = """\
#include <stdio.h>
typedef struct { double x, y, z; } vec;
typedef struct { vec pos, vel; double mass; } body;
typedef struct { float m[3][4]; } matrix;
typedef struct { float v[4]; } column;
typedef struct { struct { double x, y; } p[3]; double area; } triangle;
typedef struct { vec at; int id; double w[2]; } mixed;
static void moved(int n, double dt, body *b) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double dx = b[j].pos.x - b[i].pos.x, dz = b[j].pos.z - b[i].pos.z;
            b[i].vel.x += dt * b[j].mass * dx;
            b[i].vel.z += dt * b[j].mass * dz;
        }
    for (int i = 0; i < n; i++) b[i].pos.x += dt * b[i].vel.x, b[i].pos.z += dt * b[i].vel.z;
}
static void product(int n, const matrix *restrict a, const column *restrict x,
                    column *restrict y) {
    for (int i = 0; i < n; i++)
        for (int r = 0; r < 3; r++) {
            float s = 0;
            for (int c = 0; c < 4; c++) s += a[i].m[r][c] * x[i].v[c];
            y[i].v[r] = s;
        }
}
static void areas(int n, triangle *t) {
    for (int i = 0; i < n; i++) {
        double a = (t[i].p[1].x - t[i].p[0].x) * (t[i].p[2].y - t[i].p[0].y);
        t[i].area = a - (t[i].p[2].x - t[i].p[0].x) * (t[i].p[1].y - t[i].p[0].y);
        for (int k = 0; k < 3; k++) t[i].p[k].y -= t[i].area;
    }
}
static void copied(int n, body *restrict a, const body *restrict b) {
    for (int i = 0; i < n; i++) {
        body t = b[n - 1 - i];
        t.vel = t.pos;
        t.pos.x += 1;
        a[i] = t;
        a[i].vel.y = t.vel.z;
    }
}
static double length2(vec a) { return a.x * a.x + a.y * a.y + a.z * a.z; }
static void lengths(int n, const body *b, double *out) {
    for (int i = 0; i < n; i++) out[i] = length2(b[i].pos) - length2(b[i].vel);
}
static void weighted(int n, mixed *a) {
    for (int i = 0; i < n; i++) a[i].w[1] += a[i].at.y * a[i].w[0];
}
static void rows(int n, matrix *a) {
    for (int i = 0; i < n; i++)
        for (int r = 1; r < 3; r++) {
            float *to = a[i].m[r];
            for (int c = 0; c < 4; c++) to[c] += a[i].m[r - 1][c], *(a[i].m[r] + c) *= 2;
        }
}
static void set(int n, triangle *t) {
    for (int i = 0; i < n; i++) t[i] = (triangle){{{i, 1}, {2, i}, {3, 0}}, 4};
}
int main(void) {
    static body b[7], d[7];
    static matrix a[5];
    static column x[5], y[5];
    static triangle t[6], s[3];
    static mixed q[8];
    double out[7], check = 0;
    for (int i = 0; i < 7 * 7; i++) ((double *)b)[i] = i % 11 - 4.5;
    for (int i = 0; i < 5 * 12; i++) ((float *)a)[i] = i % 7 - 2;
    for (int i = 0; i < 5 * 4; i++) ((float *)x)[i] = i % 5 - 1;
    for (int i = 0; i < 6 * 7; i++) ((double *)t)[i] = i % 9 - 3;
    for (int i = 0; i < 8; i++) q[i] = (mixed){{i, 2 * i, 3}, i, {i, i + 1}};
    moved(7, 0.25, b), product(5, a, x, y), areas(6, t), copied(7, d, b), lengths(7, d, out);
    weighted(8, q), rows(5, a), set(3, s);
    for (int i = 0; i < 7 * 7; i++) check += i * (((double *)b)[i] - 2 * ((double *)d)[i]);
    for (int i = 0; i < 5 * 12; i++) check += i * ((float *)a)[i];
    for (int i = 0; i < 5 * 4; i++) check += (i + 2) * ((float *)y)[i];
    for (int i = 0; i < 6 * 7; i++) check += (i % 5) * ((double *)t)[i];
    for (int i = 0; i < 3 * 7; i++) check += (i % 4 + 1) * ((double *)s)[i];
    for (int i = 0; i < 8; i++) check += q[i].w[1] * i + q[i].id;
    for (int i = 0; i < 7; i++) check += out[i];
    printf("%.17g\\n", check);
    return 0;
}
"""
FUNCTIONS = {"moved", "product", "areas", "copied", "lengths", "weighted", "rows", "set"}


@pytest.mark.parametrize("compiler", compilers())
def test_drop_in_sources_give_the_same_results(compiler: str, tmp_path: Path) -> None:
    original, output = tmp_path / "program.c", tmp_path / "output.c"
    original.write_text(PROGRAM)
    made = loopwright.drop_in(original, output)
    assert set(made.replaced) >= FUNCTIONS, made.left_out
    assert executed(compiler, output, "-O1") == executed(compiler, original, "-O0")


def test_members_are_columns(tmp_path: Path) -> None:
    file = tmp_path / "program.c"
    file.write_text(PROGRAM)
    a = np.arange(60, dtype=np.float32).reshape(5, 12)
    x, y = np.ones((5, 4), np.float32), np.zeros((5, 4), np.float32)
    loopwright.load(file)["product"].compile()(5, a, x, y)
    assert np.array_equal(y[:, :3], a.reshape(5, 3, 4).sum(axis=2))
