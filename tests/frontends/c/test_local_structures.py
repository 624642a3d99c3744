"""Structures and pointers to structures that a region declares, compared with gcc."""

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
typedef struct { unsigned char r, g, b, a; } pixel;
typedef struct { double re, im; } number;
typedef struct { double v[2]; double w; } body;
static void grey(int n, const pixel *in, unsigned char *out) {
    for (int i = 0; i < n; i++) {
        const pixel *p = &in[i];
        out[i] = (p->r + p->g) / 2 + (p + 1)->b + (*p).a;
    }
}
static void next(int n, pixel *a) {
    for (int i = 0; i < n; i++) {
        pixel *p = a + i, *q = p + 1;
        q->r = p->r + p[2].g;
        q->b++;
    }
}
static void square(int n, number *z) {
    for (int i = 0; i < n; i++) {
        number t;
        t.re = z[i].re * z[i].re - z[i].im * z[i].im;
        t.im = 2 * z[i].re * z[i].im;
        if (t.im < 0) t.re += 1;
        z[i].re = t.re, z[i].im = t.im;
    }
}
static void bodies(int n, body *s) {
    for (int i = 0; i < n; i++) {
        body *b = &s[n - 1 - i];
        for (int d = 0; d < 2; d++) b->v[d] *= b->w;
    }
}
int main(void) {
    pixel in[40];
    number z[30];
    body s[9];
    unsigned char out[37];
    for (int i = 0; i < 40; i++) in[i] = (pixel){7 * i, 11 * i, 13 * i, i};
    for (int i = 0; i < 30; i++) z[i] = (number){i % 5, 3 - i};
    for (int i = 0; i < 9; i++) s[i] = (body){{i, i * i}, i % 4};
    grey(37, in, out), grey(0, in, out), next(30, in), square(30, z), bodies(9, s);
    for (int i = 0; i < 37; i++) printf("%d %d %d\\n", out[i], in[i].r, in[i].b);
    for (int i = 0; i < 30; i++) printf("%g %g\\n", z[i].re, z[i].im);
    for (int i = 0; i < 9; i++) printf("%g %g\\n", s[i].v[0], s[i].v[1]);
}
"""


def _printed(source: Path) -> str:
    program = source.with_suffix(".exe")
    flags = ("-w", "-O1", "-ffp-contract=off")
    subprocess.run([compilers()[0], *flags, str(source), "-lm", "-o", str(program)], check=True)
    return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout


def test_they_are_other_names_and_numbers(tmp_path: Path) -> None:
    original, output = tmp_path / "program.c", tmp_path / "output.c"
    original.write_text(PROGRAM)
    made = loopwright.drop_in(original, output)
    assert made.replaced[:4] == ("grey", "next", "square", "bodies")
    assert _printed(output) == _printed(original)


def test_no_member_becomes_an_argument(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text(PROGRAM)
    function = loopwright.load(path)["grey"]
    assert [each.place.name for each in function.signature.arguments] == ["n", "in", "out"]
    pixels = np.arange(40, dtype=np.uint8).reshape(10, 4)
    out = np.zeros(9, np.uint8)
    function.compile()(9, pixels, out)
    head = pixels[:9].astype(int)
    assert (out == (head[:, 0] + head[:, 1]) // 2 + pixels[1:, 2] + head[:, 3]).all()


@pytest.mark.parametrize(
    "declared",
    ["mixed *p = &a[i]", "mixed *p; p = a + i", "mixed *p = next(a)", "mixed t = a[i], *p = &t"],
)
def test_pointers_whose_members_are_not_elements_are_refused(declared: str, tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text(
        "typedef struct { double x; int n; } mixed;\nmixed *next(mixed *);\n"
        "void f(int n, mixed *a, double *out) {\n#pragma scop\n"
        f"    for (int i = 0; i < n; i++) {{ {declared}; out[i] = p->x + p->n; }}\n"
        "#pragma endscop\n}\n"
    )
    with pytest.raises(SourceError):
        loopwright.load(path)
