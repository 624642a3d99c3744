"""Arrays of structures: rows of numbers, compared with what gcc makes of the same source."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.c_code import compilers

import loopwright
from loopwright.dialects.errors import SourceError

PROGRAM = """\
#include <stdio.h>
typedef struct { double x, y, z; float w; } point;
typedef struct { float re, im; } number;
typedef struct { double v[3]; double m; int id; } body;
typedef struct { unsigned char r, g, b; } pixel;
static point cloud[40];
static pixel image[16][24];
static void first(int n, point a[n], double *restrict out) {
    for (int i = 0; i < n; i++) out[i] = a[i].x * 2.0 + a[i].z;
    for (int i = 0; i < n; i++) a[i].y = out[i] - 1.0;
}
static void product(int n, number *restrict a, const number *restrict b) {
    for (int i = 0; i < n; i++) {
        float re = a[i].re * b[i].re - a[i].im * b[i].im;
        a[i].im = a[i].re * b[i].im + a[i].im * b[i].re;
        a[i].re = re;
    }
}
static void columns(int n, int m, point a[n][m]) {
    for (int i = 1; i < n; i++)
        for (int j = 0; j < m; j++) a[i][j].z += a[i - 1][j].x + (*(a[i] + j)).y;
}
static void whole(void) {
    for (int i = 0; i < 40; i++) cloud[i].x = cloud[i].y + i;
}
static void forces(int n, body *restrict a, const body *restrict b) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int d = 0; d < 3; d++) a[i].v[d] += b[j].m * (b[j].v[d] - b[i].v[2 - d]);
}
static void grey(void) {
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 24; j++) {
            int sum = image[i][j].r + image[i][j].g + image[i][j].b;
            image[i][j].g = sum / 3;
        }
}
static void shift(int n, point *a, point *b) {
    for (int i = 0; i < n; i++) a[i].x = b[i].x + 1;
}
static void through(int n, point *p, const point *q) {
    for (int i = 0; i < n; i++) p->x += q[i].y;
}
static void flat(int h, int w, pixel *p) {
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            p[y * w + x].b = (p[(h - 1 - y) * w + w - 1 - x].r + p[y * w + x].g) / 2;
}
int main(void) {
    static point a[30], t[5][6];
    static number u[33], v[33];
    static body s[9], r[9];
    double out[30], check = 0;
    for (int i = 0; i < 30; i++) a[i] = (point){i, 2 * i, i % 7, 0.5f}, out[i] = 0;
    for (int i = 0; i < 33; i++) u[i] = (number){i, 1 - i}, v[i] = (number){i % 5, 2};
    for (int i = 0; i < 9; i++) s[i] = r[i] = (body){{i, i * i, 3 - i}, i % 4, i};
    for (int i = 0; i < 30; i++) t[i / 6][i % 6] = (point){i, i % 4, 1, 2};
    for (int i = 0; i < 40; i++) cloud[i].y = i % 9;
    for (int i = 0; i < 16 * 24; i++) image[i / 24][i % 24] = (pixel){7 * i, 11 * i, 13 * i};
    first(30, a, out), first(0, a, out);
    product(33, u, v);
    columns(5, 6, t), columns(1, 6, t);
    whole();
    forces(9, r, s);
    grey();
    flat(16, 24, &image[0][0]), flat(0, 3, &image[0][0]);
    shift(29, a + 1, a); /* overlaps */
    shift(10, a, a + 15);
    through(20, a + 4, a);
    for (int i = 0; i < 30; i++) check += (i + 1) * (a[i].x + 3 * a[i].y + a[i].z + a[i].w);
    for (int i = 0; i < 30; i++) check += (i + 3) * out[i];
    for (int i = 0; i < 33; i++) check += (i % 3 + 1) * (u[i].re - 2 * u[i].im);
    for (int i = 0; i < 30; i++) check += (i % 5) * (t[i / 6][i % 6].z + t[i / 6][i % 6].w);
    for (int i = 0; i < 40; i++) check += i * cloud[i].x;
    for (int i = 0; i < 9; i++) check += r[i].v[0] + 2 * r[i].v[1] - r[i].v[2] + r[i].id;
    for (int i = 0; i < 16 * 24; i++) check += i * image[i / 24][i % 24].g;
    for (int i = 0; i < 16 * 24; i++) check += image[i / 24][i % 24].b;
    printf("%.17g\\n", check);
    return 0;
}
"""


def executed(compiler: str, source: Path, *flags: str) -> str:
    program = source.with_suffix(".exe")
    strict = ("-Wall", "-Wextra", "-Werror", "-ffp-contract=off")
    command = [compiler, *strict, *flags, str(source), "-lm", "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("compiler", compilers())
def test_drop_in_sources_give_the_same_results(compiler: str, tmp_path: Path) -> None:
    original, output = tmp_path / "program.c", tmp_path / "output.c"
    original.write_text(PROGRAM)
    made = loopwright.drop_in(original, output)
    functions = {"first", "product", "columns", "whole", "forces", "grey", "flat", "shift"}
    assert functions <= set(made.replaced)
    assert executed(compiler, output, "-O1") == executed(compiler, original, "-O0")


def test_elements_are_rows(tmp_path: Path) -> None:
    file = tmp_path / "program.c"
    file.write_text(PROGRAM)
    program = loopwright.load(file)
    a = np.arange(20, dtype=float).reshape(5, 4)
    out, expected = np.zeros(5), a.copy()
    program["first"].compile()(5, a, out)
    assert np.array_equal(out, expected[:, 0] * 2 + expected[:, 2])
    expected[:, 1] = out - 1
    assert np.array_equal(a, expected)


NESTED = """\
#include <stdio.h>
typedef struct { double x; struct { double y, z; }; double w; } anonymous;
typedef struct { double x; struct { double w; struct { double y, z; }; }; double v; } deep;
typedef struct { double y, z; } pair;
typedef struct { double x; struct { pair s; }; struct { double p, q; } t; } named;
typedef struct { double x; union { struct { double y, z; }; struct { double p, q; }; }; } shared;
typedef struct { double x; struct { double y; double t[3]; }; double m[2][3]; } arrays;
typedef struct { float f; struct { char c; float x, y; } __attribute__((packed)); float z; } odd;
static anonymous one;
static deep other;
static shared both;
static void first(int n, anonymous *a) {
    for (int i = 0; i < n; i++) a[i].y = a[i].x + 1, a[i].z += 2, a[i].w -= a[i].y;
}
static void second(int n, anonymous *a) {
    for (int i = 0; i < n; i++) {
        a[i].y = a[i].x + 1;
        a[i].z += 2;
        a[i].w -= a[i].z;
    }
}
static void third(int n, deep *a) {
    for (int i = 0; i < n; i++) a[i].y += a[i].v + 2 * a[i].z;
    for (int i = 0; i < n; i++) a[i].w += a[i].y - a[i].x;
}
static void fourth(int n, named *a) {
    for (int i = 0; i < n; i++) a[i].s.y += a[i].x;
    for (int i = 0; i < n; i++) a[i].t.q += a[i].x;
    for (int i = 0; i < n; i++) a[i].x *= 3;
}
static void fifth(int n, shared *a) {
    for (int i = 0; i < n; i++) a[i].y = a[i].q + a[i].x;
}
static void sixth(int n, arrays *a) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 3; j++) a[i].t[j] += a[i].y * a[i].x;
}
static void seventh(int n, arrays *a) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 3; k++) a[i].m[j][k] += a[i].t[j];
}
static void eighth(int n, arrays *a) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 2; j++) a[i].m[j][1] -= a[i].t[j];
}
static void ninth(int n, odd *a) {
    for (int i = 0; i < n; i++) a[i].y += a[i].f;
    for (int i = 0; i < n; i++) a[i].z += a[i].f;
}
static void variables(int n, double *a) {
    for (int i = 0; i < n; i++) {
        one.y += 1, one.x += one.y;
        a[i] += one.y + one.x;
    }
    for (int i = 0; i < n; i++) {
        one.z = a[i] + one.y;
        a[i] += one.z;
    }
    for (int i = 0; i < n; i++) {
        other.y = a[i] + other.z;
        a[i] += other.y;
    }
    for (int i = 0; i < n; i++) {
        both.y = i;
        both.p = 2;
        a[i] += both.y;
    }
}
static void fill(int n, double *all) {
    for (int i = 0; i < n; i++) all[i] = (i * i) % 17;
}
static void print(int n, const double *all) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += (i % 13 + 1) * all[i];
    printf("%.17g\\n", sum);
}
#define TRY(type, ...) { \\
    static type a[9]; \\
    fill(sizeof a / 8, (double *)a); \\
    __VA_ARGS__; \\
    print(sizeof a / 8, (double *)a); \\
}
int main(void) {
    TRY(anonymous, first(9, a))
    TRY(anonymous, second(9, a); second(0, a))
    TRY(deep, third(9, a))
    TRY(named, fourth(9, a))
    TRY(shared, fifth(9, a))
    TRY(arrays, sixth(9, a))
    TRY(arrays, seventh(9, a))
    TRY(arrays, eighth(9, a))
    TRY(double, variables(9, a))
    odd b[8] = {0};
    for (int i = 0; i < 8; i++) b[i].f = i, b[i].x = 2 * i, b[i].y = 3, b[i].z = i % 3;
    ninth(8, b);
    for (int i = 0; i < 8; i++) printf("%g %g %g\\n", b[i].x, b[i].y, b[i].z);
    return 0;
}
"""


@pytest.mark.parametrize("compiler", compilers())
def test_nested_structures_are_read_right_or_left_alone(compiler: str, tmp_path: Path) -> None:
    original, output = tmp_path / "program.c", tmp_path / "output.c"
    original.write_text(NESTED)
    made = loopwright.drop_in(original, output)
    assert {"first", "second", "third", "fourth", "sixth", "variables"} <= set(made.replaced)
    assert {"seventh", "eighth"} <= set(made.replaced)
    assert "fifth" not in made.replaced
    assert executed(compiler, output, "-O1") == executed(compiler, original, "-O0")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("a[i].n = i", "have another type than the first"),
        ("a[i].flag = 1", "bit-fields"),
        ("a[i].either.f = 1", "unions"),
        ("a[i] = a[i + 1]", "'struct s' is not supported"),
        ("a[i].x = *a[i].p", "another type"),
        ("a[i].left = 1", "unions"),
        ("a[i].in.none = 1", "another type"),
        ("a[i].changing = 1", "another type"),
    ],
)
def test_what_is_no_row_is_refused(body: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "file.c"
    file.write_text(
        "struct s { double x, *p; int n; unsigned flag : 3; union { float f; int k; } either;\n"
        "  union { struct { double left; }; struct { double right; }; }; double row[2][2];\n"
        "  struct { float none; double m[2]; } in; struct { volatile double changing; }; };\n"
        "void f(int n, struct s *a) {\n#pragma scop\n"
        f"  for (int i = 0; i < n; i++)\n    {body};\n#pragma endscop\n}}\n"
    )
    with pytest.raises(SourceError, match=message):
        loopwright.load(file)


@pytest.mark.parametrize(
    "structure",
    [
        "struct s { volatile double x; double y; };",
        "struct __attribute__((packed)) s { double x; float y, z; };",
        "struct s { double x; char c; } __attribute__((packed));",
        "union s { double x; double y; };",
        "struct s { _Bool x; };",
    ],
)
def test_structures_that_are_no_rows(structure: str, tmp_path: Path) -> None:
    file = tmp_path / "file.c"
    file.write_text(
        f"{structure}\nvoid f(int n, {structure.split()[0]} s *a) {{\n#pragma scop\n"
        "  for (int i = 0; i < n; i++) a[i].x = 1;\n#pragma endscop\n}\n"
    )
    with pytest.raises(SourceError):
        loopwright.load(file)
