"""Pointers that move by the same distance in each iteration, compared with gcc."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.c_code import assert_same_as_compiled, compilers

import loopwright
from loopwright.dialects.errors import SourceError

HEAD = "void f(int n, int m, double *a, const double *b, double A[9][9], short *c) {{\n"
FORM = HEAD + "#pragma scop\n    {0}\n#pragma endscop\n}}\n"
BODIES = (
    "for (int i = 0; i < n; i++) *a++ = 2 * *b++;",
    "for (int i = 0; i < n; i++) { a[0] = *b; b += 2; ++a; }",
    "for (int i = 1; i < n; i++) { *++a = *++b; *a -= b[-1]; }",
    "const double *p = b + n - 1; for (int i = 0; i < n; i++) a[i] = *p--;",
    "const double *p = b; double *q = a;"
    "for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) q[j] = p[j] + i; p += m; q += m; }",
    "for (int y = 0; y < n; y++) { for (int x = 0; x < m; x++) *a++ = *b++ + y; b += 12 - m; }",
    "for (int y = 0; y < n; y++, a += m) for (int x = m - 1; x >= 0; x--) a[x] = b[x] * y;",
    "for (int y = 0; y < n; y++) { const double *p = b; for (int x = 0; x < m; x++) a[y] += *p++;}",
    "for (int i = 0; i < n; i++) { double *p = A[i]; for (int j = 0; j < m; j++) *p++ = i - j; }",
    "for (int i = 0; i < n; i++) { double *p = &A[i][1], *q = p; for (int j = 1; j < m; j++, p++)"
    " *p += p[-1] + q[0]; }",
    "for (const double *p = b; p < b + n; p++) a[0] += *p;",
    "for (const double *p = b + n - 1, *q = b; p >= q; --p) *a++ = *p;",
    "double *p, *end = a + n; for (p = a; p != end; ++p) *p = 3 - *p;",
    "const double *p = b; for (int i = 0; i < n; i++) a[i] = *p++; p = b + 1;"
    "for (int i = 0; i < n; i++) a[i] -= p[i];",
    "double *p = a; for (int i = 0; i < 5; i++) *p++ = i; for (int i = 0; i < n; i++) *p++ = -i;",
    "for (int i = 0; i < 9; i += 3) { a[0] = b[2]; a[1] = b[0]; a += 2; b += 3; }",
    "for (int i = 7; i > 0; i -= 2) { *a = i; a += 2; }",
    "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) *a++ = b[j] + i;",
    "for (int i = 0; i < n; i++) { *a = b[i]; a += i + 1; }",
    "for (int i = 0; i < n; i++) { if (b[0] > 0.5) *a = 1; else *a = *b; a++; b++; }",
    "for (int i = 0; i < n; i++) { if (i > 2) a[0] = 4; a++; }",
    "int i, j; for (i = 0, j = n - 1; i < n; i++, j--) a[i] = b[j];",
    "for (int i = 0, j = 3; i < n; i++) a[i] = b[i] + j;",
    "for (unsigned i = 0; i < (unsigned)n; i++) *c++ = (short)(i * 7);",
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) *(a + i * m + j) = *(b + j) + i;",
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
    " a[(n - 1 - i) * m + m - 1 - j] = b[i * m + j];",
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
    " a[(n - 1 - i) * m + m - 1 - j] = b[n * m - 1 - (i * m + j)] + i;",
    "for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) for (int k = 0; k < m; k++)"
    " a[((1 - i) * 3 + 2 - j) * m + m - 1 - k] = b[(i * 3 + j) * m + k];",
    "for (int i = 0; i < n; i++) { const double *p = &b[c[i] * 4]; a[i] = p[0] + p[1] * p[2]; }",
    "for (int i = 0; i < n; i++) { double s = 0; const double *p = b + i; double *q = A[i];"
    "for (int j = 0; j < m; j++) { s += *p++ * q[0]; q++; } a[i] = s; }",
)


def _arguments() -> dict[str, np.ndarray]:
    random = np.random.default_rng(1)
    a, b, A = (random.random(shape) for shape in (99, 99, (9, 9)))
    return {"a": a, "b": b, "A": A, "c": np.arange(99, dtype=np.int16)}


@pytest.mark.parametrize("body", BODIES)
def test_pointers_that_move(body: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(FORM.format(body))
    assert_same_as_compiled(path, ((0, 4), (1, 1), (5, 3), (8, 9)), _arguments)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("for (int i = 0; i < n; i++) if (b[i] > 0) *a++ = b[i];", "under a condition only"),
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < m - i; j++) *a++ = 1;",
            "another distance",
        ),
        ("for (int i = 0; i < n; i++) { *a = 1; a += i * i; }", "another distance"),
        ("for (int i = 0; i < n; i++) { double *t = a; a = A[0]; *a = t[i]; }", "elsewhere"),
        ("for (int i = 0; i < n; i++) { a[0] = 1; a += c[i]; }", "read from memory"),
        ("for (const double *p = a; p < b; p++) A[0][0] += *p;", "into another array"),
        ("for (int i = 0; i < n; i++) { b[i] > 0 ? *a++ : 0; }", "under a condition only"),
        ("int k = n; a += k; k = 2; a[0] = 1;", "that the region assigns"),
        ("int i; for (i = 0; i < n; i++) c[i] = 1; a += i; a[0] = 2;", "that the region assigns"),
        ("void *v = a; float *p = v; for (int i = 0; i < n; i++) *p++ = 1;", "of another type"),
        ("int k = 9; for (int i = k; i < n; i++) { k = b[i]; *a++ = i; }", "first value changes"),
        ("for (int i = c[0]; i < n; i++) { *a++ = i; c[0] = 5; }", "first value changes"),
        (
            "double *q = a + n; for (double *p = a; p < q; p++) { *p = 1; q--; }",
            "an end that may change",
        ),
    ],
)
def test_other_moves_are_refused(body: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(FORM.format(body))
    with pytest.raises(SourceError, match=reason):
        loopwright.load(path)


def test_pointers_that_are_used_behind_the_region_do_not_move_in_it(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    body = "for (int i = 0; i < n; i++) *a++ = 1;"
    path.write_text(FORM.format(body).replace("endscop\n", "endscop\n    a[0] = 5;\n"))
    with pytest.raises(SourceError, match="may be used behind the region"):
        loopwright.load(path)


SET_BY_ADDRESS = """void f(int n, double *a) {
    double *p = a, **q = &p, *r;
    *q = a + 9;
#pragma scop
    r = p;
    for (int i = 0; i < n; i++) *r++ = 2;
#pragma endscop
}
"""


def test_a_pointer_with_an_address_may_not_have_the_value_of_its_declaration(
    tmp_path: Path,
) -> None:
    original, output, library = (tmp_path / name for name in ("f.c", "f.loopwright.c", "f.so"))
    original.write_text(SET_BY_ADDRESS)
    loopwright.drop_in(original, output)
    command = (compilers()[0], "-w", "-shared", "-fPIC", str(output), "-o", str(library), "-lm")
    subprocess.run(command, check=True)
    a = np.zeros(20)
    ctypes.CDLL(str(library)).f(5, a.ctypes.data_as(ctypes.c_void_p))
    np.testing.assert_array_equal(np.flatnonzero(a), np.arange(9, 14))


FOUND = """#include <stdio.h>
static void rows(int n, double *a, const double *b) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) *a++ = b[j];
}
static void two(int n, double *a) {
    double *p = a;
    for (int i = 0; i < n; i++) *p++ = i;
    for (int i = 0; i < n; i++) *p++ = -i;
}
static void again(int n, double *a, const double *b) {
    const double *p = b;
    int k = 3;
    while (k-- > 0) {
        for (int i = 0; i < n; i++) a[i] += *p++;
        a += n;
    }
}
static void set(int n, double *a, const double *b) {
    for (int k = 0; k < 3; k++) {
        const double *p = b + k;
        if (b[k] > 1) printf("large");
        for (int i = 0; i < n; i++) a[i] += *p++;
    }
}
int main(void) {
    double a[99] = {0}, b[99];
    for (int i = 0; i < 99; i++) b[i] = i * 0.25;
    rows(7, a, b);
    two(9, a + 30);
    again(8, a + 50, b);
    set(8, a + 80, b);
    for (int i = 0; i < 99; i++) printf("%g ", a[i]);
    return 0;
}
"""


def test_regions_that_run_again_keep_what_moves(tmp_path: Path) -> None:
    original, output = tmp_path / "program.c", tmp_path / "program.loopwright.c"
    original.write_text(FOUND)
    loopwright.drop_in(original, output)
    printed: list[str] = []
    for path in (original, output):
        program = path.with_suffix(".out")
        subprocess.run([compilers()[0], "-w", "-O1", str(path), "-lm", "-o", program], check=True)
        printed.append(subprocess.run([program], check=True, capture_output=True, text=True).stdout)
    assert printed[0] == printed[1]
