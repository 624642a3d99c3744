"""Structures as values: copies, initial values and compound literals, compared with gcc."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.c_code import assert_same_as_compiled, compilers

import loopwright

PROGRAM = """\
#include <stdio.h>
typedef struct { float r, i; } cpx;
typedef struct { int x, y; } pt;
typedef struct { double x; int id; } mixed;
pt last = {1, 2};
void product(int n, const cpx *a, const cpx *b, cpx *c) {
    for (int i = 0; i < n; i++) {
        cpx t = {a[i].r * b[i].r - a[i].i * b[i].i, a[i].r * b[i].i + a[i].i * b[i].r};
        c[i] = t;
    }
}
void turned(int n, cpx *z, float s) {
    for (int i = 0; i < n; i++) z[i] = (cpx){-z[i].i * s, z[i].r};
}
void phase(int n, cpx *z) {
    cpx w = {1.0f, 0.0f};
    const cpx d = {0.8f, 0.6f};
    for (int i = 0; i < n; i++) {
        z[i] = (cpx){z[i].r * w.r - z[i].i * w.i, z[i].r * w.i + z[i].i * w.r};
        w = (cpx){w.r * d.r - w.i * d.i, w.r * d.i + w.i * d.r};
    }
}
void copied(int n, const pt *a, pt *b) {
    for (int i = 0; i < n; i++) { pt p = a[n - 1 - i]; p.x += 3; p.y ^= p.x; b[i] = p; }
}
void swapped(int n, pt *a) {
    pt t;
    for (int i = 0, j = n - 1; i < j; i++, j--) { t = a[i]; a[i] = a[j]; a[j] = t; }
}
void down(int n, pt *a) { for (int i = n - 1; i > 0; i--) a[i] = a[i - 1]; }
void up(int n, pt *a) { for (int i = 1; i < n; i++) a[i] = a[i - 1]; }
void chosen(int n, pt *a, const pt *b) {
    for (int i = 0; i < n; i++) a[i] = b[i].x > b[i].y ? b[i] : a[n - 1 - i];
}
void global(int n, pt *a) {
    for (int i = 0; i < n; i++) { last = (pt){last.y, last.x + a[i].x}; a[i] = last; }
}
void transposed(int n, pt a[n][n]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) { pt t = a[i][j]; a[i][j] = a[j][i]; a[j][i] = t; }
}
void bounds(int n, const pt *a, pt *out) {
    pt lo = a[0], hi = a[0];
    for (int i = 1; i < n; i++) {
        if (a[i].x < lo.x) lo = a[i];
        if (a[i].y > hi.y) hi = a[i];
    }
    out[0] = lo, out[1] = hi;
}
void seen(int n, const pt *a, pt *out) {
    pt sum = a[0];
    int *y = &sum.y;
    for (int i = 1; i < n; i++) { sum.y += a[i].x; *y += 1; }
    out[0] = sum;
}
void zeros(int n, pt *a) { for (int i = 0; i < n; i++) a[i] = (pt){i}; }
void named(int n, pt *a) { for (int i = 0; i < n; i++) a[i] = (pt){.y = i, .x = 2 * i}; }
void whole(int n, mixed *a) { for (int i = 0; i < n; i++) a[i] = a[n - 1 - i]; }
int main(void) {
    cpx a[20], b[20], c[20];
    pt p[20], q[20], r[4][4];
    mixed m[5];
    for (int i = 0; i < 20; i++) a[i] = (cpx){i / 7.f, -i / 3.f}, b[i] = (cpx){i % 6 / 5.f, 1.1f};
    for (int i = 0; i < 20; i++) p[i] = (pt){i * 7 % 5 - 2, i}, q[i] = (pt){i, 3 - i};
    for (int i = 0; i < 16; i++) r[i / 4][i % 4] = (pt){i, i * i};
    for (int i = 0; i < 5; i++) m[i] = (mixed){i, i};
    product(20, a, b, c), turned(20, c, 0.7f), phase(20, c), copied(19, p, q), swapped(20, q);
    down(20, q), up(5, p), chosen(20, q, p), global(9, p), transposed(4, r), whole(5, m);
    zeros(3, p + 10), named(3, p + 15), bounds(20, q, p), seen(20, q, p + 2);
    for (int i = 0; i < 20; i++)
        printf("%a %a %d %d %d %d\\n", c[i].r, c[i].i, p[i].x, p[i].y, q[i].x, q[i].y);
    for (int i = 0; i < 16; i++) printf("%d %d\\n", r[i / 4][i % 4].x, m[i % 5].id);
}
"""

CALLS = """\
#include <stdio.h>
typedef struct { double x, y; } p2;
static int calls;
static p2 last = {1, 2};
static p2 counted(p2 a) { calls++; a.x += calls; return a; }
static p2 moved(p2 a) { return (p2){a.x + last.x, last.y}; }
static p2 kept(p2 a) { last = a; return a; }
static p2 through(const p2 *a, p2 b) { return (p2){a->x + b.x, a->y * b.y}; }
static p2 added(p2 a, double *s) { *s += a.x; return a; }
static p2 pick(p2 a, p2 b, int k) {
    if (k % 3 == 0) return a;
    if (k % 3 == 1) return b;
    return (p2){b.y, a.x};
}
static p2 turned(p2 a, int n) {
    for (int i = 0; i < n; i++) {
        double t = a.x;
        a.x = a.y + 1, a.y = t;
        if (t > 5) return a;
    }
    return (p2){-a.x, a.y};
}
static p2 times(p2 a, double s) { p2 r = {a.x * s, a.y * s}; return r; }
static double dot(p2 a, p2 b) { return a.x * b.x + a.y * b.y; }
static double least(p2 a) { double t = dot(a, a); if (t < 1e-3) t = 1e-3; return t; }
static p2 again(p2 a, int n) { return n <= 0 ? a : again((p2){a.y, a.x}, n - 1); }
void f1(int n, p2 *a) { for (int i = 0; i < n; i++) a[i] = counted(a[i]); }
void f2(int n, p2 *a) { for (int i = 0; i < n; i++) a[i] = moved(a[i]); }
void f3(int n, p2 *a) { for (int i = 0; i < n; i++) { a[i] = kept(a[i]); a[i] = moved(a[i]); } }
void f4(int n, p2 *a, const p2 *b) { for (int i = 0; i < n; i++) a[i] = through(&b[i], a[i]); }
void f5(int n, p2 *a, double *s) { for (int i = 0; i < n; i++) a[i] = added(a[i], s); }
void f6(int n, p2 *a, const p2 *b) { for (int i = 0; i < n; i++) a[i] = pick(a[i], b[i], i); }
void f7(int n, p2 *a) { for (int i = 0; i < n; i++) a[i] = turned(a[i], i); }
void f8(int n, p2 *a) { for (int i = 0; i < n; i++) a[i] = again(a[i], i); }
void f9(int n, p2 *a) {
    for (int i = 1; i < n; i++) a[i] = pick(a[i - 1], pick(a[i], a[i - 1], i + 1), i);
}
void g1(int n, const p2 *a, double *o) {
    for (int i = 0; i < n; i++) o[i] = dot(a[i], a[n - 1 - i]);
}
void g2(int n, const p2 *p, p2 *f) {
    for (int i = 0; i < n; i++) {
        p2 s = {0, 0};
        for (int j = 0; j < n; j++) {
            p2 d = {p[j].x - p[i].x, p[j].y - p[i].y};
            p2 w = times(d, 1.0 / least(d));
            s = (p2){s.x + w.x, s.y + w.y};
        }
        f[i] = s;
    }
}
static p2 A[20], B[20];
static double o[20];
static void show(const char *s) {
    printf("%s %d %a %a\\n", s, calls, last.x, last.y);
    for (int i = 0; i < 20; i++) printf("%a %a %a\\n", A[i].x, A[i].y, o[i]);
    for (int i = 0; i < 20; i++) A[i] = (p2){(i * 37 % 11) / 3., (i * 53 % 17) / 7. - 1};
}
#define T(c) c; show(#c);
int main(void) {
    for (int i = 0; i < 20; i++) B[i] = (p2){i * i % 7, -i / 3.};
    show("first");
    T(f1(20, A)) T(f2(20, A)) T(f3(20, A)) T(f4(20, A, B)) T(f5(20, A, o)) T(f6(20, A, B))
    T(f7(20, A)) T(f8(20, A)) T(f9(20, A)) T(g1(20, A, o)) T(g2(20, B, A))
    T(f4(20, A, A)) T(f4(19, A, A + 1))
}
"""

REPLACED = (
    "product",
    "turned",
    "phase",
    "copied",
    "swapped",
    "down",
    "up",
    "chosen",
    "global",
    "transposed",
    "bounds",
    "seen",
    "zeros",
)


def _printed(source: Path) -> str:
    program = source.with_suffix(".exe")
    flags = ("-w", "-O1", "-ffp-contract=off")
    subprocess.run([compilers()[0], *flags, str(source), "-lm", "-o", str(program)], check=True)
    return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("threads", [1, 2])
def test_they_are_read_member_by_member(threads: int, tmp_path: Path) -> None:
    original, output = tmp_path / "program.c", tmp_path / "output.c"
    original.write_text(PROGRAM)
    made = loopwright.drop_in(original, output, threads=threads)
    assert made.replaced[: len(REPLACED)] == REPLACED
    assert _printed(output) == _printed(original)


def test_functions_take_and_give_them(tmp_path: Path) -> None:
    original, output = tmp_path / "program.c", tmp_path / "output.c"
    original.write_text(CALLS)
    made = loopwright.drop_in(original, output)
    assert {"f1", "f5", "f6", "f9", "g1", "g2"} <= set(made.replaced)
    assert _printed(output) == _printed(original)


@pytest.mark.parametrize(
    "body",
    [
        "node t = d[0]; for (int i = 0; i < n; i++) { t = d[t.next]; e[i].x = t.z; e[i].w = t.w; }",
        "for (int i = 0; i < n; i++) d[i] = d[d[i].next];",
        "for (int i = 0; i < n; i++) d[d[i].next] = e[i];",
        "for (int i = 0; i < n; i++) d[e[i].next] = e[n - 1 - i];",
    ],
)
def test_subscripts_are_those_of_before_the_assignment(body: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        "typedef struct { int x, next, z, w; } node;\n"
        "void f(int n, int m, node *d, node *restrict e) {\n#pragma scop\n"
        f"    {body}\n#pragma endscop\n}}\n"
    )

    def arrays() -> dict[str, np.ndarray]:
        found = np.random.default_rng(5).integers(0, 9, (2, 9, 4)).astype(np.int32)
        return {"d": found[0], "e": found[1]}

    assert_same_as_compiled(path, [(9, 4)], arrays)
