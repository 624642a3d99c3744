"""`while` loops that count, and `for` loops without all parts, compared with gcc."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.c_code import assert_same_as_compiled, compilers

import loopwright

BODIES = (
    "int i = 0; while (i < n) { a[i] = b[i] + i; i++; }",
    "int i = 2; while (i <= n - 1) { a[i] = b[i] + i; i = i + 2; }",
    "int i = n - 1; while (i >= 0) { a[i] = b[i] + i; --i; }",
    "int i = 0; while (i < n && i + 1 < m) { a[i] = b[i + 1]; i++; }",
    "while (n-- > 0) a[n] = b[n] * n;",
    "while (n > 0) { a[n] = b[n] * n; n--; }",
    "int k = n; while (k--) *a++ = *b++ + k;",
    "unsigned k = n > 0 ? n : 0; while (k--) a[k] = b[k] + k;",
    "int i = -1; while (++i < n) a[i] = b[i] + i;",
    "int i = 0; while (i++ < n) a[i] = b[i] + i;",
    "int i = n; while (--i >= 0) a[i] = b[i] + i;",
    "int i = n; while (i-- != 0) a[i] = b[i] + i;",
    "for (int i = n; i-- > 0;) a[i] = b[i] - i;",
    "for (unsigned long i = n; i-- > 0;) a[i] = b[i] - i;",
    "int i = 1; for (; i < n; i++) a[i] = b[i] - i;",
    "int i; for (i = 0; i < n;) { a[i] = b[i] - i; i += 3; }",
    "int i = 0, j; while (i < n) { j = 0; while (j < m) { a[i * m + j] += b[j]; j++; } i++; }",
    "int i = 0; while (i < n) { int j = m; while (j-- > 0) a[i * m + j] += i; ++i; }",
    "for (int i = 0; i < n; i++) { int j = 0; while (j <= i) { a[j] += b[i]; j++; } }",
    "int i = 0; while (i < n) { a[i] = i; i++; } i = 0; while (i < m) { a[i] += b[i]; i++; }",
    "int i = 0; while (i < n) { a[i] = i; i++; } a[20] = i;",
    "int i = 0; while (i < n) { if (b[i] > 0.5) a[i] = i; i++; }",
    "int i = 0; while (i < n) { a[i] = i; if (b[i] > 0.5) i++; i++; }",
    "int i = 0; while (i < n) { i++; a[i] = i; }",
    "for (int i = 0, j = n - 1; i < j; i++, j--) { double t = a[i]; a[i] = a[j]; a[j] = t; }",
    "for (int i = 1, j = n + m; i <= j; i++, j--) a[i] = a[j] + i - j;",
    "int i, j; for (i = 0, j = n - 1; i < j; i++, j--) a[i] = b[j]; a[0] += j;",
    "for (unsigned long i = 0, j = m; i < j; i++, j--) { double t = a[i]; a[i] = a[j]; a[j] = t; }",
    "for (double *p = a, *q = a + n - 1; p < q; p++, q--) { double t = *p; *p = *q; *q = t; }",
    "double *p, *q; for (p = a, q = a + n; p <= q; p++, q--) { *p += 1; *q -= 2; }",
    "double *p = a; int k = n; while (k > 0) { *p++ = b[k]; k--; }",
)
POINTERS = (
    "double *p = a, *e = p + n; while (p < e) *p++ += 2;",
    "double *e = a + n; while (a != e) { double v = *b++; *a++ = v * 2; }",
    "double *p = a, *e = a + n; while (p < e) { *p = *b * *p; p++; b++; }",
    "for (int i = 0; i < n; i++) { double *r = a + i * m, *e = r + m; while (r < e) *r++ += i; }",
    "const double *p = b, *e = b + n; double s = 0; while (p < e) { s += *p++; *a += s; a++; }",
    "double *p = a + 2, *e = p + n; const double *q = b; while (p < e) *p++ = *q++;",
    "double *p = a, *e = p + n; p += 1; while (p < e) *p++ += 2;",
    "double *p = a, *e = p + n; *p++ = 4; double *d = p; while (p < e) *p++ = *d;",
    "double *p = a, *q = p++, *e = p + n; while (p < e) *p++ = *q++ + 1;",
)


REFUSED = (
    "for (int i = 0, j = n; i < j; i++, j--) { a[i] = b[j]; if (b[i] > 0.5) j--; }",
    "for (unsigned i = 3, j = n; i < j; i++, j--) a[i] = b[j];",
    "for (int i = 0, j = i + n; i < j; i++, j--) a[i] = b[j];",
    "for (int i = 0, j = n; i < j; i++, j--) { n--; a[i] = b[j]; }",
    "for (signed char i = -40, j = 100; i < j; i++, j--) a[i + 40] = b[j - 30];",
)


def _arguments() -> dict[str, np.ndarray]:
    random = np.random.default_rng(1)
    return {"a": random.random(90), "b": random.random(90)}


def _write(body: str, folder: Path) -> Path:
    path = folder / "f.c"
    head = "void f(int n, int m, double *a, const double *b) {\n#pragma scop\n"
    path.write_text(f"{head}    {body}\n#pragma endscop\n}}\n")
    return path


@pytest.mark.parametrize("body", [*BODIES, *POINTERS])
def test_loops_that_count(body: str, tmp_path: Path) -> None:
    assert_same_as_compiled(_write(body, tmp_path), ((0, 4), (1, 1), (5, 3), (8, 9)), _arguments)


@pytest.mark.parametrize("body", [*BODIES[:7], *BODIES[8:13], *BODIES[14:20], *POINTERS[:5]])
def test_loops_that_count_are_affine(body: str, tmp_path: Path) -> None:
    assert not loopwright.load(_write(body, tmp_path))["f"].scop.opaque_statements


@pytest.mark.parametrize("body", REFUSED)
def test_variables_that_do_not_move_alone_are_refused(body: str, tmp_path: Path) -> None:
    with pytest.raises(loopwright.errors.SourceError, match="several variables"):
        loopwright.load(_write(body, tmp_path))


def test_variables_of_loops_around_a_region_are_those_of_the_text(tmp_path: Path) -> None:
    """The region is inside of a loop that counts down by its condition."""
    path = tmp_path / "f.c"
    path.write_text(
        "void f(int n, int m, double *a, const double *b) {\n  for (int i = n; i-- > 0;) {\n"
        "    if (b[i] > 2) break;\n    for (int j = 0; j < m; j++) a[i * m + j] = b[j];\n  }\n}\n"
    )
    output = tmp_path / "g.c"
    made = loopwright.drop_in(path, output)
    assert made.replaced == ("f",)
    main = "int main(void) { double a[12] = {0}, b[4] = {1, 1, 1, 1}; f(3, 4, a, b); return %s; }\n"
    output.write_text(made.text + main % "(int)(a[0] + a[8] + a[11]) - 3")
    program = tmp_path / "g.exe"
    subprocess.run([compilers()[0], "-w", str(output), "-o", str(program)], check=True)
    assert subprocess.run([str(program)], check=False).returncode == 0
