"""Branches on data: what they store is chosen by the condition, under all schedules."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import loopwright
from loopwright.errors import OutOfBounds

BRANCHES = """
func.func @f(%n: index, %A: memref<?xf64>, %I: memref<?xindex>, %x: memref<?xf64>,
             %y: memref<?xf64>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %half = arith.constant 0.5 : f64
  scf.for %i = %zero to %n step %one {
    %k = memref.load %I[%i] : memref<?xindex>
    %v = memref.load %A[%i] : memref<?xf64>
    %c = arith.cmpi sge, %k, %zero : index
    scf.if %c {
      %g = memref.load %x[%k] : memref<?xf64>
      memref.store %g, %y[%i] : memref<?xf64>
    } else {
      %small = arith.cmpf olt, %v, %half : f64
      %r = scf.if %small -> (f64) {
        %w = arith.addf %v, %v : f64
        scf.yield %w : f64
      } else {
        scf.for %j = %zero to %i step %one {
          memref.store %half, %A[%j] : memref<?xf64>
        }
        scf.yield %half : f64
      }
      memref.store %r, %y[%i] : memref<?xf64>
    }
  }
  return
}
"""

EITHER = """
func.func @f(%n: index, %m: index, %A: memref<?xf64>) {
  %one = arith.constant 1.0 : f64
  affine.for %i = 0 to %n {
    %i0 = affine.apply affine_map<(d0) -> (d0)>(%i)
    %three = arith.constant 3 : index
    %small = arith.cmpi slt, %i0, %three : index
    %last = arith.cmpi uge, %i0, %m : index
    %either = arith.ori %small, %last : i1
    scf.if %either {
      affine.store %one, %A[%i] : memref<?xf64>
    }
  }
  return
}
"""

Floats = NDArray[np.float64]


def branches(a: Floats, places: NDArray[np.int64], x: Floats, y: Floats) -> None:
    for i, k in enumerate(places):
        if k >= 0:
            y[i] = x[k]
        elif a[i] < 0.5:
            y[i] = a[i] + a[i]
        else:
            a[:i] = y[i] = 0.5


@pytest.mark.parametrize(
    "schedule", [None, "default", "affine-schedule", "strip-mine{loops=i size=4}"]
)
def test_branches_on_data(schedule: str | None) -> None:
    random = np.random.default_rng(1)
    function = loopwright.load(BRANCHES)["f"]
    kernel = function.compile(schedule)
    for _ in range(4):
        places, x = random.integers(-3, 6, 11), random.random(6)
        a, y = random.random(11), np.zeros(11)
        expected = a.copy(), y.copy()
        branches(expected[0], places, x, expected[1])
        kernel(11, a, places, x, y)
        np.testing.assert_array_equal(a, expected[0])
        np.testing.assert_array_equal(y, expected[1])
    places[3] = 6
    with pytest.raises(OutOfBounds, match="access outside of x"):
        kernel(11, a, places, x, y)


def test_other_conditions_than_conjunctions() -> None:
    for schedule in (None, "default", "vectorize{loops=i width=4}"):
        a = np.zeros(9)
        loopwright.load(EITHER)["f"].compile(schedule)(9, 7, a)
        assert a.tolist() == [1, 1, 1, 0, 0, 0, 0, 1, 1]
