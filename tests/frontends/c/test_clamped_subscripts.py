"""Subscripts that are a minimum or a maximum: images that are continued by their borders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import loopwright
from loopwright.passes.polyhedral.gathers import gathered_arrays

CROSS = """
void cross(int h, int w, float a[h][w], float o[h][w]) {
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++) {
      int l = j > 0 ? j - 1 : 0, r = j < w - 1 ? j + 1 : w - 1;
      int u = i > 0 ? i - 1 : 0, d = i + 1 < h ? i + 1 : h - 1;
      o[i][j] = a[i][l] + a[i][r] + a[u][j] + a[d][j] + a[u][l] - 4 * a[i][j];
    }
}
"""

SUMS = """
void sums(int h, int w, unsigned char a[h][w], int o[h][w]) {
  for (int j = 0; j < w; j++)
    for (int i = 0; i < h; i++)
      o[i < 3 ? i : 3][j] += a[i][j + 2 < w ? j + 2 : w - 1];
}
"""

CLAMPED = """
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
void clamped(int h, int w, float a[h][w], float o[h][w]) {
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++) {
      float s = 0;
      for (int k = -2; k <= 2; k++) {
        int y = MIN(MAX(i + k, 0), h - 1);
        s += a[i][MIN(MAX(j + k, 0), w - 1)] + 2 * a[y][j];
      }
      o[i][j] = s;
    }
}
"""

REFLECTED = """
void reflected(int n, float a[n], float o[n]) {
  for (int i = 0; i < n; i++)
    o[i] = a[i < 2 ? 2 - i : i - 2] + a[i > 1 && n > i ? i / 2 : n - 1 - i];
}
"""

TEXT = """
func.func @f(%n: index, %x: memref<?xf64>, %y: memref<?xf64>) {
  %zero = arith.constant 0 : index
  affine.for %i = 0 to %n {
    %0 = affine.max affine_map<(d0) -> (d0 - 2, 0)>(%i)
    %1 = memref.load %x[%0] : memref<?xf64>
    %2 = affine.min affine_map<(d0)[s0] -> (d0 + 1, s0 - 1, 11)>(%i)[%n]
    %3 = affine.load %x[%2] : memref<?xf64>
    %4 = arith.subf %1, %3 : f64
    affine.store %4, %y[%i] : memref<?xf64>
  }
  return
}
"""
SHAPES = ((1, 1), (1, 5), (2, 2), (7, 3), (9, 40))
SCHEDULES = (None, "default", "affine-schedule{fusion=maximal}")


def load(text: str, tmp_path: Path) -> loopwright.Function:
    file = tmp_path / "program.c"
    file.write_text(text)
    return next(iter(loopwright.load(file).values()))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_neighbours_beyond_the_border(tmp_path: Path, schedule: str | None) -> None:
    f = load(CROSS, tmp_path)
    assert not any(each.is_opaque for each in f.scop.statements)
    for h, w in SHAPES:
        a, o = np.random.rand(h, w).astype("f4"), np.zeros((h, w), "f4")
        f.compile(schedule, threads=1)(h, w, a, o)
        i, j = np.indices((h, w))
        up, down = np.maximum(i - 1, 0), np.minimum(i + 1, h - 1)
        left, right = np.maximum(j - 1, 0), np.minimum(j + 1, w - 1)
        expected = a[i, left] + a[i, right] + a[up, j] + a[down, j] + a[up, left] - 4 * a
        np.testing.assert_allclose(o, expected, atol=1e-5)


@pytest.mark.parametrize("schedule", [None, "default"])
def test_positions_between_two_limits(tmp_path: Path, schedule: str | None) -> None:
    f = load(CLAMPED, tmp_path)
    assert not any(each.is_opaque or [*gathered_arrays(each)] for each in f.scop.statements)
    for h, w in SHAPES:
        a, o = np.random.rand(h, w).astype("f4"), np.zeros((h, w), "f4")
        f.compile(schedule, threads=1)(h, w, a, o)
        i, j = np.indices((h, w))
        expected = sum(
            a[i, np.clip(j + k, 0, w - 1)] + 2 * a[np.clip(i + k, 0, h - 1), j]
            for k in range(-2, 3)
        )
        np.testing.assert_allclose(o, expected, 1e-5)


@pytest.mark.parametrize("schedule", [None, "default"])
def test_positions_that_are_reflected(tmp_path: Path, schedule: str | None) -> None:
    f = load(REFLECTED, tmp_path)
    for n in (3, 4, 9, 40):
        a, o = np.random.rand(n).astype("f4"), np.zeros(n, "f4")
        f.compile(schedule, threads=1)(n, a, o)
        i = np.arange(n)
        np.testing.assert_array_equal(o, a[abs(i - 2)] + a[np.where(i > 1, i // 2, n - 1 - i)])


@pytest.mark.parametrize("schedule", [None, "default"])
def test_elements_that_are_written(tmp_path: Path, schedule: str | None) -> None:
    f = load(SUMS, tmp_path)
    for h, w in SHAPES:
        a, o = np.random.randint(0, 256, (h, w)).astype("u1"), np.zeros((h, w), "i4")
        f.compile(schedule, threads=1)(h, w, a, o)
        expected = np.zeros((h, w), "i4")
        i, j = np.indices((h, w))
        np.add.at(expected, (np.minimum(i, 3), j), a[i, np.minimum(j + 2, w - 1)])
        np.testing.assert_array_equal(o, expected)


@pytest.mark.parametrize("schedule", [None, "default"])
def test_affine_min_and_max_in_the_text(schedule: str | None) -> None:
    f = loopwright.load(TEXT)["f"]
    for n in (1, 2, 3, 9, 40):
        x, y = np.random.rand(n), np.zeros(n)
        f.compile(schedule, threads=1)(n, x, y)
        i = np.arange(n)
        last = np.minimum(np.minimum(i + 1, n - 1), 11)
        np.testing.assert_array_equal(y, x[np.maximum(i - 2, 0)] - x[last])
