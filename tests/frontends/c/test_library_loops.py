"""`memcpy`, `memset` and the bit counts of GCC: what the C compiler computes."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from support.c_code import compilers

import loopwright

PROGRAM = """\
#include <string.h>
#define N 12
void heat(int n, int steps, double *restrict u, double *restrict v) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) v[i] = u[i] + 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1]);
    v[0] = u[0]; v[n - 1] = u[n - 1];
    memcpy(u, v, n * sizeof *u);
  }
}
void rows(int n, int m, float a[n][m], const float *restrict b) {
  for (int i = 0; i < n; i++) {
    memset(a[i], 0, sizeof(float) * m);
    for (int j = 0; j < m; j++) a[i][j] += b[j];
    if (i % 3 == 1) memcpy(&a[i][0], b, m * sizeof(float));
  }
}
void bits(int n, const unsigned *restrict x, int *restrict y) {
  for (int i = 0; i < n; i++)
    y[i] = __builtin_popcount(x[i]) + 64 * __builtin_clz(x[i] | 1)
           + 4096 * __builtin_ctzll(x[i] | 1ull << 40) + __builtin_popcount(y[i]);
}
void windows(int n, char *restrict s, const char *restrict q) {
  char buffer[N];
  for (int i = 0; i < n; i++) {
    memcpy(buffer, q + i, sizeof buffer);
    memset(s + i, 0, 3);
    for (int j = 0; j < N; j++) s[i] += buffer[j];
  }
}
"""
LEFT = (
    "void f(int n, int *a, int *b) { for (int i = 0; i < n; i++) memcpy(a, b + i, n); }",
    "void f(int n, int *a) { for (int i = 0; i < n; i++) memset(a, 1, n * sizeof *a); }",
    "void f(unsigned n, int *a, int *b) { "
    "for (unsigned i = 0; i < n; i++) memcpy(a + i, b, n * (unsigned)sizeof *a); }",
    "void f(int n, int *a, float *b) { "
    "for (int i = 0; i < n; i++) memcpy(a + i, b, n * sizeof *a); }",
    # The source or the size depends on what is copied; a product that is no whole number.
    "void f(int n, int *restrict a, const int *restrict b) { "
    "for (int i = 0; i < n; i++) memcpy(a, b + a[1] % 7, 5 * sizeof *a); }",
    "void f(int n, int *restrict a, const int *restrict b) { int w[5] = {1, 0, 3, 1, 2}; "
    "for (int i = 0; i < n; i++) { memcpy(w, b + w[1], 5 * sizeof *w); a[i] = w[2]; } }",
    "void f(int n, int *restrict a, const int *restrict b) { "
    "for (int i = 0; i < n; i++) memcpy(a + i, b, a[0] * sizeof *a); }",
    "void f(int n, int *restrict a, const int *restrict b) { "
    "for (int i = 0; i < n; i++) memcpy(a + i, b, n * 0.5 * 4); }",
    "void f(int n, int *restrict a, const int *restrict b) { "
    "for (int i = 0; i < n; i++) memcpy(a + i, b, n * 1e400); }",
    # Elements of one bit; a function of the program's own.
    "void f(_Bool *a, int n) { for (int i = 0; i < n; i++) memset(a, 0, n * sizeof *a); }",
    "void memset_chk(int *, int, int); "
    "void f(int n, int *a) { for (int i = 0; i < n; i++) memset_chk(a + i, 0, 4); }",
)


def _arguments(name: str) -> Iterator[list[object]]:
    random = np.random.default_rng(3)
    for n in (1, 2, 9, 30):
        floats, whole = random.standard_normal((2, 64)), random.integers(0, 2**32, (2, 64))
        yield {
            "heat": [n, 5, *floats],
            "rows": [n, 7, random.standard_normal((n, 7)).astype(np.float32), floats[0]],
            "bits": [n, *whole.astype(np.uint32)],
            "windows": [n, *whole.astype(np.int8)],
        }[name]


@pytest.mark.parametrize("machine_code", [False, True])
def test_results(machine_code: bool, tmp_path: Path) -> None:
    names = ("heat", "rows", "bits", "windows")
    source, output = tmp_path / "f.c", tmp_path / "g.c"
    source.write_text(PROGRAM)
    flags = ("-ffp-contract=off",)
    made = loopwright.drop_in(source, output, machine_code=machine_code, cflags=flags)
    assert made.replaced == names
    libraries: list[ctypes.CDLL] = []
    for path, level in ((source, "-O0"), (output, "-O2")):
        library = path.with_suffix(".so")
        command = [compilers()[0], level, *flags, "-w", "-shared", "-fPIC", str(path)]
        subprocess.run([*command, "-o", str(library)], check=True)
        libraries.append(ctypes.CDLL(str(library)))
    for name in names:
        for expected, found in zip(_arguments(name), _arguments(name), strict=True):
            for library, values in zip(libraries, (expected, found), strict=True):
                getattr(library, name)(
                    *(
                        each.ctypes.data_as(ctypes.c_void_p)
                        if isinstance(each, np.ndarray)
                        else each
                        for each in values
                    )
                )
            for one, other in zip(expected, found, strict=True):
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("text", LEFT)
def test_what_stays(text: str, tmp_path: Path) -> None:
    """No whole elements, no zeros, sizes that wrap around, other types, what data tells."""
    source, output = tmp_path / "f.c", tmp_path / "g.c"
    source.write_text(f"#include <string.h>\n{text}\n")
    assert not loopwright.drop_in(source, output).replaced
