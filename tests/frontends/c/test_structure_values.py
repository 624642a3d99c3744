"""Structures as values: copies, initial values and compound literals, compared with gcc."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.c_code import compilers

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
    zeros(3, p + 10), named(3, p + 15);
    for (int i = 0; i < 20; i++)
        printf("%a %a %d %d %d %d\\n", c[i].r, c[i].i, p[i].x, p[i].y, q[i].x, q[i].y);
    for (int i = 0; i < 16; i++) printf("%d %d\\n", r[i / 4][i % 4].x, m[i % 5].id);
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
