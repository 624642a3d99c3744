"""Private arrays of split loops: statements that share no cells have an array each."""

import re
from typing import Any

import numpy as np
import pytest
from support.scops import schedule_of

from loopwright import load
from loopwright.passes.estimate.local_extents import stored_statistics
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.shared_cells import sharing_statements
from loopwright.passes.syntax.pipeline import parse_pipeline

ROWS = """
func.func @f(%A: memref<9x23xf32>, %B: memref<9x23xf32>) {
  affine.for %i = 0 to 9 {
    affine.for %j = 0 to 23 {
      %T = memref.alloca() : memref<4xf32>
      affine.for %k = 0 to 4 {
        %0 = affine.load %A[%i, %j] : memref<9x23xf32>
        %1 = arith.addf %0, %0 : f32
        affine.store %1, %T[%k] : memref<4xf32>
      }
      affine.for %l = 0 to 4 {
        %2 = affine.load %T[3 - %l] : memref<4xf32>
        %3 = affine.load %B[%i, %j] : memref<9x23xf32>
        %4 = arith.subf %2, %3 : f32
        affine.store %4, %B[%i, %j] : memref<9x23xf32>
      }
    }
  }
  return
}
"""

SPLITS = [
    ("split{loops=j at=5}", ["4", "4"], 2),
    ("split{loops=i at=5}", ["4", "4"], 2),
    ("split{loops=j at=5},split{loops=S0_2.j at=i+9}", ["4", "4", "4"], 3),
    # Of a part whose loops are apart, the array holds all that they hand each other.
    ("split{loops=j at=5},distribute{loops=S0_2.j}", ["4", "18x4"], 2),
    # All of these hand each other values.
    ("split{loops=k at=1}", ["4"], 1),
    ("split{loops=k at=1},split{loops=l at=2}", ["4"], 1),
]


def results(pipeline: str | None) -> tuple[Any, str]:
    kernel = load(ROWS)["f"].compile(pipeline, threads=1, verify=pipeline is not None)
    source, result = np.random.default_rng(0).random((2, 9, 23), np.float32)
    kernel(source, result)
    return result, kernel.specialise(source, result).code.loop_ir


@pytest.mark.parametrize("pipeline, shapes, groups", SPLITS)
def test_an_array_for_each_part(pipeline: str, shapes: list[str], groups: int) -> None:
    expected, _ = results(None)
    result, code = results(pipeline)
    assert np.array_equal(result, expected)
    assert sorted(re.findall(r"alloca?\(\).*memref<(.*)xf32>", code)) == sorted(shapes)


@pytest.mark.parametrize("pipeline, shapes, groups", SPLITS)
def test_groups_of_statements(pipeline: str, shapes: list[str], groups: int) -> None:
    scop = schedule_of(ROWS).apply_all(parse_pipeline(pipeline)).scop
    (array,) = (each for each in scop.arrays if each.is_local)
    found = sharing_statements(scop, array)
    assert len(found) == groups
    users = [s.name for s in scop.statements if any(a.array is array for a in s.accesses)]
    assert sorted(name for group in found for name in group) == sorted(users)


SUMS = """
func.func @f(%A: memref<30x40xf64>, %B: memref<30xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to 30 {
    %sum = affine.for %j = 0 to 40 iter_args(%s = %zero) -> (f64) {
      %0 = affine.load %A[%i, %j] : memref<30x40xf64>
      %1 = arith.addf %s, %0 : f64
      affine.yield %1 : f64
    }
    %square = arith.mulf %sum, %sum : f64
    affine.store %square, %B[%i] : memref<30xf64>
  }
  return
}
"""


def test_the_estimate_has_the_largest_array() -> None:
    def extents(pipeline: str) -> set[tuple[int, ...]]:
        schedule = schedule_of(SUMS).apply_all(parse_pipeline(pipeline))
        return set(stored_statistics(schedule, SchedulingContext({}, 1)).expanded.values())

    assert extents("split{loops=i at=10}") == {(1,)}
    assert extents("split{loops=i at=10},distribute{loops=S0_2.i}") == {(20,)}
