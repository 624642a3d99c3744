"""Double buffering by the default schedule: where it is chosen, and its results."""

from __future__ import annotations

import numpy as np
import pytest
from support.scops import schedule_of

import loopwright
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.default.double_buffering import double_buffered
from loopwright.passes.polyhedral.schedule_tree import Loop, nests
from loopwright.passes.transformations.double_buffer import copies_back

SMOOTH = """
func.func @f(%steps: index, %n: index, %m: index, %A: memref<?x?xf32>, %B: memref<?x?xf32>) {
  affine.for %t = 0 to %steps {
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%m] {
        %0 = affine.load %A[%i - 1, %j - 1] : memref<?x?xf32>
        %1 = affine.load %A[%i + 1, %j] : memref<?x?xf32>
        %2 = arith.addf %0, %1 : f32
        %3 = affine.load %A[%i, %j + 1] : memref<?x?xf32>
        %4 = arith.addf %2, %3 : f32
        affine.store %4, %B[%i, %j] : memref<?x?xf32>
      }
    }
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%m] {
        %5 = affine.load %B[%i, %j] : memref<?x?xf32>
        affine.store %5, %A[%i, %j] : memref<?x?xf32>
      }
    }
  }
  return
}
"""

# Game of Life, its next generation in a local array that begins at the first cell inside.
LIFE = """
func.func @f(%steps: index, %n: index, %A: memref<?xi8>) {
  %one = arith.constant 1 : i8
  %B = memref.alloc(%n) : memref<?xi8>
  affine.for %t = 0 to %steps {
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      %0 = affine.load %A[%i - 1] : memref<?xi8>
      %1 = affine.load %A[%i + 1] : memref<?xi8>
      %2 = arith.addi %0, %1 : i8
      %3 = arith.cmpi eq, %2, %one : i8
      %4 = arith.extui %3 : i1 to i8
      affine.store %4, %B[%i - 1] : memref<?xi8>
    }
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      %5 = affine.load %B[%i - 1] : memref<?xi8>
      affine.store %5, %A[%i] : memref<?xi8>
    }
  }
  memref.dealloc %B : memref<?xi8>
  return
}
"""


@pytest.mark.parametrize(
    ("text", "sizes"),
    [(SMOOTH, {"steps": 40, "n": 700, "m": 701}), (LIFE, {"steps": 50, "n": 5000})],
)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.usefixtures("zen3")
def test_it_is_chosen(text: str, sizes: dict[str, int], threads: int) -> None:
    schedule = default_schedule(schedule_of(text).program, sizes, threads=threads)
    assert schedule.transformations[0].name == "double-buffer"


def test_there_is_nothing_to_do_without_a_copy() -> None:
    assert double_buffered(schedule_of(SMOOTH.replace("%B[", "%A["))) is None


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("steps", [8, 9])
def test_results_stay(steps: int, threads: int) -> None:
    smooth, life = (loopwright.load(text)["f"] for text in (SMOOTH, LIFE))
    generator = np.random.default_rng(steps)
    planes = [generator.integers(-9, 9, (131, 140)).astype(np.float32) for _ in range(2)]
    cells = [generator.integers(0, 2, 4099).astype(np.int8)]
    for function, sizes, arrays in ((smooth, (131, 140), planes), (life, (4099,), cells)):
        others = [array.copy() for array in arrays]
        function.compile("default", threads=threads)(steps, *sizes, *arrays)
        function.compile(None)(steps, *sizes, *others)
        for array, other in zip(arrays, others, strict=True):
            np.testing.assert_array_equal(array, other)


PRIVATE = """
func.func @f(%A: memref<30x40xf32>, %B: memref<30x40xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %t = 0 to 30 {
    %P = memref.alloca() : memref<40xf32>
    affine.for %i = 0 to 40 {
      %sum = affine.for %j = 0 to 40 iter_args(%s = %zero) -> (f32) {
        %0 = affine.load %A[%t, %j] : memref<30x40xf32>
        %1 = arith.addf %s, %0 : f32
        affine.yield %1 : f32
      }
      affine.store %sum, %P[%i] : memref<40xf32>
      %square = arith.mulf %sum, %sum : f32
      affine.store %square, %B[%t, %i] : memref<30x40xf32>
    }
    affine.for %i = 0 to 40 {
      %2 = affine.load %P[39 - %i] : memref<40xf32>
      %3 = affine.load %B[%t, %i] : memref<30x40xf32>
      %4 = arith.addf %2, %3 : f32
      affine.store %4, %B[%t, %i] : memref<30x40xf32>
    }
  }
  return
}
"""


def test_nothing_is_left_in_private_arrays_for_the_next_iteration() -> None:
    schedule = schedule_of(PRIVATE)
    (nest,) = nests(schedule.tree)
    assert isinstance(nest, Loop)
    (copy,) = copies_back(schedule.scop, nest)
    assert copy.target.array.scope_depth == 1
    assert double_buffered(schedule) is None


ROWS = """
func.func @f(%A: memref<30x40xf32>, %B: memref<30x40xf32>, %C: memref<30x40xf32>) {
  affine.for %t = 0 to 30 {
    affine.for %i = 1 to 39 {
      %0 = affine.load %A[%t, %i - 1] : memref<30x40xf32>
      %1 = affine.load %A[%t, %i + 1] : memref<30x40xf32>
      %2 = arith.addf %0, %1 : f32
      affine.store %2, %B[%t, %i] : memref<30x40xf32>
    }
    affine.for %i = 1 to 39 {
      %3 = affine.load %B[%t, %i] : memref<30x40xf32>
      affine.store %3, %C[%t, %i] : memref<30x40xf32>
    }
  }
  return
}
"""


@pytest.mark.parametrize("target", ["C", "A"])
def test_rows_of_their_own_are_not_copied_for_the_next_iteration(target: str) -> None:
    schedule = schedule_of(ROWS.replace("%C[", f"%{target}["))
    (nest,) = nests(schedule.tree)
    assert isinstance(nest, Loop)
    assert len(list(copies_back(schedule.scop, nest))) == 1
    assert double_buffered(schedule) is None
