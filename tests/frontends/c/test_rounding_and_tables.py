"""Numbers rounded to integers, and tables at clamped subscripts: what gcc makes of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.c_code import assert_same_as_compiled

import loopwright

TABLE = """#include <stdint.h>
void f(int n, int m, int x[n][m], uint8_t t[64], uint8_t y[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      int v = x[i][j] * 3 - i;
      v = VALUE;
      y[i][j] = t[v];
    }
}
"""

CLAMPED = {
    "v < 0 ? 0 : (v > 63 ? 63 : v)": True,
    "v > 63 ? 63 : (v < 0 ? 0 : v)": True,
    "v <= 0 ? 0 : v >= 63 ? 63 : v": True,
    "63 < v ? 63 : 0 > v ? 0 : v": True,
    "v == 5 ? 63 : v & 31": True,
    "v < -1 ? 0 : (v > 63 ? 63 : v) + 1": False,
    "v < 0 ? 0 : v > 64 ? 64 : v": False,
}
"""Subscripts of a table of 64 elements, and whether they are always inside."""


@pytest.mark.parametrize("value", CLAMPED)
@pytest.mark.parametrize("schedule", ["vectorize{loops=j width=8}", "parallel{loops=i}"])
def test_clamped_subscripts_are_not_compared(value: str, schedule: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(TABLE.replace("VALUE", value))
    kernel = loopwright.load(path)["f"].compile(schedule, threads=1)
    x = np.random.default_rng(1).integers(0, 21, (5, 40), np.int32)
    y = np.zeros((5, 40), np.uint8)
    kernel(5, 40, x, np.arange(64, dtype=np.uint8), y)
    assert ("bounds_violation" in kernel.llvm_ir) != CLAMPED[value]


@pytest.mark.parametrize("value", [each for each, inside in CLAMPED.items() if inside])
def test_tables_as_gcc_reads_them(value: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(TABLE.replace("VALUE", value))
    random = np.random.default_rng(2)
    for n, m in ((1, 1), (3, 70), (9, 33)):
        x = random.integers(-90, 90, (n, m), np.int32)
        t = random.integers(0, 256, 64, np.uint8)
        assert_same_as_compiled(
            path,
            [(n, m)],
            lambda x=x, t=t: {"x": x.copy(), "t": t.copy(), "y": np.zeros_like(x, np.uint8)},
        )


ROUNDED = """#include <math.h>
void f(int n, int m, float x[n][m], double z[n][m], signed char q[n][m], long r[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      q[i][j] = (signed char)lrintf(x[i][j] * 127);
      r[i][j] = llround(z[i][j] * 8) * 16 + lrint(z[i][j] * 8) + lroundf(x[i][j]);
    }
}
"""


def test_rounding_to_integers(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(ROUNDED)
    random = np.random.default_rng(3)
    for n, m in ((1, 1), (3, 70)):
        x = random.uniform(-1, 1, (n, m)).astype(np.float32)
        z = random.integers(-900, 900, (n, m)) / 16.0

        def arrays(x: np.ndarray = x, z: np.ndarray = z) -> dict[str, np.ndarray]:
            return {
                "x": x.copy(),
                "z": z.copy(),
                "q": np.zeros_like(x, np.int8),
                "r": np.zeros_like(x, np.int64),
            }

        assert_same_as_compiled(path, [(n, m)], arrays)


def test_values_of_gathers_keep_their_order(tmp_path: Path) -> None:
    """What is read before an element is overwritten stays what it was."""
    path = tmp_path / "f.c"
    path.write_text("""
void f(int n, int m, int x[n], int a[n], int b[n], int c[n]) {
  for (int i = 0; i < n; i++) {
    int v;
    v = a[x[i]];
    a[x[i]] = m + i;
    b[i] = v;
    v = a[x[i] / 2];
    a[n - 1 - i] = 7;
    c[i] = a[v & 1] + v;
  }
}
""")
    n = 37
    x = np.random.default_rng(4).permutation(n).astype(np.int32)
    zero = np.zeros(n, np.int32)

    def arrays() -> dict[str, np.ndarray]:
        return {"x": x.copy(), "a": x * 3, "b": zero.copy(), "c": zero.copy()}

    assert_same_as_compiled(path, [(n, 5)], arrays)
