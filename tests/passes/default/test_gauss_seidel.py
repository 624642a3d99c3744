"""Sweeps in place run several rows side by side, and give the same results."""

from __future__ import annotations

import numpy as np
import pytest
from support.reference_runs import check_run, function_of

import loopwright
from loopwright.passes.default.gauss_seidel import gauss_seidel
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.transformations.affine_schedule import AffineSchedule
from loopwright.runtime.program import Function

# Five points, of which the one two columns ahead in the row before makes a larger lag necessary.
SWEEPS = """
func.func @f(%steps: index, %n: index, %m: index, %A: memref<?x?xf64>) {
  affine.for %t = 0 to %steps {
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      affine.for %j = 1 to affine_map<()[s0] -> (s0 - 2)>()[%m] {
        %0 = affine.load %A[%i - 1, %j + 2] : memref<?x?xf64>
        %1 = affine.load %A[%i, %j - 1] : memref<?x?xf64>
        %2 = arith.addf %0, %1 : f64
        %3 = affine.load %A[%i + 1, %j] : memref<?x?xf64>
        %4 = arith.maximumf %2, %3 : f64
        %5 = affine.load %A[%i, %j + 1] : memref<?x?xf64>
        %6 = arith.subf %4, %5 : f64
        affine.store %6, %A[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
"""


def interleaved(function: Function, sizes: dict[str, int], threads: int = 2) -> Schedule | None:
    scheduled = Schedule.original(function.scop).apply(AffineSchedule())
    context = SchedulingContext(infer_extents(function.scop, sizes), threads)
    return gauss_seidel(scheduled, scheduled.tree, context)


@pytest.mark.parametrize("threads", [1, 2])
def test_seidel_2d(threads: int) -> None:
    schedule = interleaved(function_of("polybench/seidel-2d"), {"tsteps": 500, "n": 2000}, threads)
    assert schedule is not None
    assert "unroll{loops=i}" in str(schedule)
    assert ("parallel" in str(schedule)) == (threads == 2)
    for size in ("MINI", (19, 45)):
        check_run("polybench/seidel-2d", schedule, size, threads)


@pytest.mark.parametrize("threads", [1, 2])
def test_another_sweep(threads: int) -> None:
    function = loopwright.load(SWEEPS)["f"]
    schedule = interleaved(function, {"steps": 100, "n": 500, "m": 500}, threads)
    assert schedule is not None
    array = np.random.default_rng(1).random((61, 75))
    expected = array.copy()
    function.compile(schedule, threads=threads)(21, 61, 75, array)
    function.compile(None)(21, 61, 75, expected)
    np.testing.assert_array_equal(array, expected)


def test_full_rows_are_unrolled() -> None:
    function = function_of("polybench/seidel-2d")
    schedule = interleaved(function, {"tsteps": 500, "n": 120})
    kernel = function.compile(schedule, threads=2)
    kernel.specialise(100, 500, np.zeros((500, 500)))
    assert kernel.loop_ir.count("affine.store") > 8


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("seidel-2d", {"tsteps": 4, "n": 2000}),
        ("jacobi-2d", {"tsteps": 500, "n": 1300}),
        ("floyd-warshall", {"n": 2000}),
        ("gemm", {"ni": 1000, "nj": 1000, "nk": 1000}),
    ],
)
def test_others_are_left_alone(name: str, sizes: dict[str, int]) -> None:
    assert interleaved(function_of(f"polybench/{name}"), sizes) is None


@pytest.mark.parametrize("threads", [1, 2])
def test_waiting_makes_it_the_default(threads: int) -> None:
    function = function_of("polybench/seidel-2d")
    for fast_math in (False, True):
        schedule = function.default_schedule(
            {"tsteps": 40, "n": 120}, threads=threads, fast_math=fast_math
        )
        assert "unroll{loops=i}" in str(schedule)
