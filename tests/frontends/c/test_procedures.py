"""Functions without a result in place of their calls: what the C compiler computes."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from support.c_code import build, compilers

import loopwright
from loopwright.frontends.c import optimised
from loopwright.frontends.c.c_file import read_regions, read_source
from loopwright.lowering.c import emit_c

HELPERS = """
static void scale(int n, double *x, double a) {
    if (n <= 0) return;
    for (int k = 0; k < n; k++) x[k] = x[k] * a + 1;
}
static void axpy(int n, double a, const double *x, double *y) {
    int i;
    for (i = 0; i < n; i++) { if (x[i] > 2) continue; y[i] += a * x[i]; }
}
static void set(double x[4], int k, double v) { if (k > 2) { x[0] = v; return; } x[k] = v + k; }
static void rows(int n, int m, double A[n][m], const double *x) {
    for (int i = 0; i < n; i++) {
        scale(m, A[i], 0.5);
        axpy(m - 1, x[i], x, &A[i][1]);
    }
}
static int piece(double v, double *whole, double *rest) {
    if (v < 0) { *whole = -1; *rest = v; return 0; }
    *whole = (int)v; *rest = v - *whole;
    return *rest > 0.5;
}
static void swapped(int *a, int *b) { int t = *a; *a = *b; *b = t + 1; }
static void counted(int n, double *x) { n = n / 2; while (n > 0) { x[n] += 1; n--; } }
"""

BODIES = {
    "rows": "rows(n, n, A, x);",
    "a triangle": "for (int i = 0; i < n; i++) scale(i + 1, A[i], x[i]);",
    "what is passed is read once": "for (int i = 0; i < n; i++) scale(n, A[i], A[i][i]);",
    "one array twice": "for (int i = 0; i < n; i++) axpy(n, x[i], A[i], A[i]);",
    "overlapping parts": "for (int i = 1; i < n; i++) axpy(n - 1, 0.5, A[i] + 1, A[i - 1]);",
    "a row by data": "for (int i = 0; i < n; i++) { int k = z[i]; axpy(n, 1.0, x, A[k]); }",
    "a row by data that changes": (
        "for (int i = 0; i < n; i++) { double *row = A[z[i]]; z[i] = (z[i] + 1) % n; row[0] += 1; }"
    ),
    "a row by a variable that changes": (
        "int k = 0; for (int i = 0; i < n; i++) { double *row = A[k]; k = n - 1 - i; row[i] += k; }"
    ),
    "under conditions": (
        "for (int i = 0; i < n; i++) { if (x[i] > 0) scale(n, A[i], 2.0); "
        "if (i > 2) axpy(n, 1.0, x, A[i]); }"
    ),
    "with a loop over data": "for (int i = 0; i < n; i++) counted(n, A[i]);",
    "results at addresses": (
        "for (int i = 0; i < n; i++) { double a, b; z[i] = piece(1.25 * x[i], &a, &b); "
        "A[i][0] = a; A[0][i] = b; }"
    ),
    "results at addresses beside others": (
        "int c = 0; for (int i = 0; i < n; i++) { double a, b; if (piece(1.25 * x[i], &a, &b) > 0) "
        "c += 1; c += 2 * piece(x[i], &a, &b); A[i][0] = a - b; z[i] = c; }"
    ),
    "one variable twice": (
        "int k = 0; for (int i = 0; i < n; i++) { int l = i; swapped(&k, &l); swapped(&l, &l); "
        "z[i] = k + 10 * l; }"
    ),
    "without loops": "for (int i = 0; i < n; i++) set(A[i % 4], i % 4 < n ? i % 4 : 0, x[i]);",
    "one behind the other": "scale(n, A[0], 3.0); for (int i = 0; i < n; i++) scale(n, A[i], 2.0);",
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("schedule", [None, "default"])
def test_calls(schedule: str | None, name: str, tmp_path: Path) -> None:
    text = HELPERS + (
        "void f(int n, double A[restrict n][n], const double *restrict x, int *restrict z) {\n"
        f"#pragma scop\n{BODIES[name]}\n#pragma endscop\n}}\n"
    )
    path = tmp_path / "f.c"
    path.write_text(text)
    kernel = loopwright.load(path)["f"].compile(schedule, threads=1)
    library = build(compilers()[0], [text], tmp_path, "-O0", "-w", "-Wno-error")
    for n in (5, 6, 17):
        random = np.random.default_rng(n)
        arrays = {
            "A": random.integers(-3, 4, (n, n)).astype(float),
            "x": random.integers(-3, 4, n).astype(float),
            "z": random.integers(0, n, n).astype(np.int32),
        }
        ours, theirs = ({k: each.copy() for k, each in arrays.items()} for _ in range(2))
        kernel(n, *ours.values())
        library.f(n, *(each.ctypes.data_as(ctypes.c_void_p) for each in theirs.values()))
        for each in arrays:
            np.testing.assert_array_equal(ours[each], theirs[each], each)


def test_a_call_alone_is_optimised_in_its_own_function(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        HELPERS + "void f(int n, double *x, double *y) { scale(n, x, 2.0); axpy(n, 1.0, x, y); }\n"
        "void g(int n, double *x) { for (int t = 0; t < 9; t++) scale(n, x, 2.0); }\n"
    )
    functions = set(loopwright.load(path))
    assert "g" in functions and "f" not in functions


@pytest.mark.parametrize(
    "helper",
    [
        "static void g(int n, double *x) { static int k; x[0] = k++ + n; }",
        "static void g(int n, double *x) { if (n > 0) { x[n] = 1; g(n - 1, x); } }",
        "struct s { int k; } s;\nstatic void g(int n, double *x) { x[s.k] = n; }",
        "static void g(int n, void *x) { ((double *)x)[n] = 1; }",
    ],
)
def test_calls_that_stay(helper: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        f"{helper}\nvoid f(int n, double *A) {{\n#pragma scop\n"
        "  for (int i = 0; i < n; i++) g(i, A);\n#pragma endscop\n}\n"
    )
    with pytest.raises(loopwright.errors.SourceError, match="the call of 'g' cannot be analysed"):
        loopwright.load(path)


def test_loops_as_written_have_elements_of_signed_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of all loops that drop-in sources call."""
    path = tmp_path / "f.c"
    path.write_text("void f(int n, unsigned char *A) { for (int i = 0; i < n; i++) A[i] += 1; }\n")
    (translation,) = read_regions(read_source(path)).translations
    monkeypatch.setattr(optimised, "schedule_of", lambda *_: None)
    options = optimised.Options(None, None, 1, False, loopwright.Target.host(), False, True)
    loops, _ = optimised.optimised_loops(translation.function, options, "loops")
    assert "uint8_t A[" not in emit_c(loops)
