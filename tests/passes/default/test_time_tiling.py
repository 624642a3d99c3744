"""Iterated stencils are tiled in time where that pays, and give the same results."""

from __future__ import annotations

import re

import numpy as np
import pytest
from support.reference_runs import function_of
from support.targets import WIDE

import loopwright
from loopwright.passes.default.time_tiling import time_tiling
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import loops
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.transformations.affine_schedule import AffineSchedule
from loopwright.runtime.program import Function

# Two alternating arrays, three points to the left and one to the right.
LINE = """
func.func @f(%steps: index, %n: index, %A: memref<?xf32>, %B: memref<?xf32>) {
  affine.for %t = 0 to %steps {
    affine.for %i = 3 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      %0 = affine.load %A[%i - 3] : memref<?xf32>
      %1 = affine.load %A[%i + 1] : memref<?xf32>
      %2 = arith.addf %0, %1 : f32
      affine.store %2, %B[%i] : memref<?xf32>
    }
    affine.for %i = 3 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      %3 = affine.load %B[%i] : memref<?xf32>
      %half = arith.constant 0.5 : f32
      %4 = arith.mulf %3, %half : f32
      affine.store %4, %A[%i] : memref<?xf32>
    }
  }
  return
}
"""

# In place: the row before of this sweep, and the row behind of the last one.
PLANE = """
func.func @f(%steps: index, %n: index, %m: index, %A: memref<?x?xf32>) {
  affine.for %t = 0 to %steps {
    affine.for %i = 2 to %n {
      affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%m] {
        %0 = affine.load %A[%i - 2, %j - 1] : memref<?x?xf32>
        %1 = affine.load %A[%i, %j + 1] : memref<?x?xf32>
        %2 = arith.maximumf %0, %1 : f32
        %3 = affine.load %A[%i - 2, %j + 1] : memref<?x?xf32>
        %4 = arith.addf %2, %3 : f32
        affine.store %4, %A[%i - 1, %j] : memref<?x?xf32>
      }
    }
  }
  return
}
"""

# No iteration of the outermost loop needs another.
ROWS = """
func.func @f(%steps: index, %n: index, %m: index, %A: memref<?x?xf32>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %0 = affine.load %A[%i, %j] : memref<?x?xf32>
      %1 = arith.addf %0, %0 : f32
      affine.store %1, %A[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
"""


# What fits in a cache shall not depend on the machine of the test.


def tiled(function: Function, sizes: dict[str, int], threads: int = 2) -> Schedule | None:
    scheduled = Schedule.original(function.scop, WIDE).apply(AffineSchedule())
    context = SchedulingContext(infer_extents(function.scop, sizes), threads)
    return time_tiling(scheduled, scheduled.tree, context)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("jacobi-1d", {"tsteps": 1000, "n": 4_000_000}),
        ("jacobi-2d", {"tsteps": 500, "n": 1300}),
        ("heat-3d", {"tsteps": 500, "n": 120}),
        ("fdtd-2d", {"tmax": 500, "nx": 1000, "ny": 1200}),
    ],
)
def test_long_sweeps_are_tiled_in_time_and_run_along_wavefronts(
    name: str, sizes: dict[str, int]
) -> None:
    function = function_of(f"polybench/{name}")
    schedule = tiled(function, sizes)
    steps = str(schedule)
    assert schedule is not None
    assert "wavefront" in steps
    assert "parallel" in steps
    in_vectors = {n for loop in loops(schedule.tree) if loop.vector for n in loop.schedule}
    assert in_vectors == {statement.name for statement in schedule.scop.statements}
    alone = str(tiled(function, sizes, threads=1))
    assert "tile{" in alone
    assert "parallel" not in alone


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("jacobi-1d", {"tsteps": 500, "n": 2000}),
        ("jacobi-2d", {"tsteps": 500, "n": 40}),
        ("jacobi-2d", {"tsteps": 2, "n": 1300}),
        ("gemm", {"ni": 1000, "nj": 1000, "nk": 1000}),
        ("durbin", {"n": 2000}),
    ],
)
def test_others_are_not(name: str, sizes: dict[str, int]) -> None:
    assert tiled(function_of(f"polybench/{name}"), sizes) is None


def test_few_sweeps_are_cut_so_that_threads_have_tiles() -> None:
    function = function_of("polybench/jacobi-2d")
    sweeps = {
        threads: _sweeps(tiled(function, {"tsteps": 64, "n": 1300}, threads)) for threads in (1, 2)
    }
    assert sweeps[2] < sweeps[1]
    assert 3 * 2 * sweeps[2] <= 64


def _sweeps(schedule: Schedule | None) -> int:
    """How many time steps a tile has."""
    found = re.search(r"tile\{loops=t,\S* sizes=(\d+)", str(schedule))
    assert found is not None
    return int(found[1])


def test_a_parallel_outermost_loop_is_no_time_loop() -> None:
    function = loopwright.load(ROWS)["f"]
    assert tiled(function, {"steps": 1, "n": 5000, "m": 5000}) is None


@pytest.mark.parametrize("threads", [1, 2])
def test_other_stencils_give_the_same_results(threads: int) -> None:
    for text, large, small in (
        (LINE, {"steps": 300, "n": 1_000_000}, (37, 4001)),
        (PLANE, {"steps": 300, "n": 3000, "m": 2000}, (29, 83, 71)),
    ):
        function = loopwright.load(text)["f"]
        schedule = tiled(function, large, threads)
        assert schedule is not None
        rng = np.random.default_rng(1)
        shapes = [small[1:]] * (2 if text is LINE else 1)
        arrays = [rng.random(shape, np.float32) for shape in shapes]
        expected = [array.copy() for array in arrays]
        function.compile(schedule, threads=threads)(*small, *arrays)
        function.compile(None)(*small, *expected)
        for array, wanted in zip(arrays, expected, strict=True):
            np.testing.assert_array_equal(array, wanted)
