"""Batches of small problems, one in each lane: which nests are, with the same results."""

from __future__ import annotations

import numpy as np
import pytest
from support.reference_runs import check_run, function_of
from support.targets import NARROW, WIDE

from loopwright.kernels.catalogue import catalogue
from loopwright.passes.default.batches_in_lanes import batches_in_lanes
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import load

SOLVE = """
func.func @solve(%batch: index, %n: index, %A: memref<?x?x?xf64>, %x: memref<?x?xf64>) {
  affine.for %b = 0 to %batch {
    affine.for %k = 0 to %n {
      affine.for %i = affine_map<(d0) -> (d0 + 1)>(%k) to %n {
        %0 = affine.load %A[%b, %i, %k] : memref<?x?x?xf64>
        %1 = affine.load %A[%b, %k, %k] : memref<?x?x?xf64>
        %2 = arith.divf %0, %1 : f64
        affine.store %2, %A[%b, %i, %k] : memref<?x?x?xf64>
        affine.for %j = affine_map<(d0) -> (d0 + 1)>(%k) to %n {
          %3 = affine.load %A[%b, %i, %j] : memref<?x?x?xf64>
          %4 = affine.load %A[%b, %i, %k] : memref<?x?x?xf64>
          %5 = affine.load %A[%b, %k, %j] : memref<?x?x?xf64>
          %6 = arith.mulf %4, %5 : f64
          %7 = arith.subf %3, %6 : f64
          affine.store %7, %A[%b, %i, %j] : memref<?x?x?xf64>
        }
        %8 = affine.load %x[%b, %i] : memref<?x?xf64>
        %9 = affine.load %A[%b, %i, %k] : memref<?x?x?xf64>
        %10 = affine.load %x[%b, %k] : memref<?x?xf64>
        %11 = arith.mulf %9, %10 : f64
        %12 = arith.subf %8, %11 : f64
        affine.store %12, %x[%b, %i] : memref<?x?xf64>
      }
    }
  }
  return
}
"""


def proposal(kernel: str, target: Target, threads: int) -> Schedule | None:
    function = function_of(kernel)
    sizes = infer_extents(function.scop, catalogue()[kernel].parameter_values("LARGE"))
    original = Schedule.original(function.scop, target)
    return batches_in_lanes(original, original.tree, SchedulingContext(sizes, threads))


@pytest.mark.parametrize("target", [WIDE, NARROW], ids=["wide", "narrow"])
def test_small_factorisations_are_interleaved(target: Target) -> None:
    lanes = 8 if target is WIDE else 4
    schedule = proposal("field/batched_cholesky", target, 2)
    assert schedule is not None
    steps = str(schedule)
    assert steps.startswith(
        f"strip-mine{{loops=b size={lanes}}},pack{{loops=bt array=A order=1,2,0}}"
    )
    assert steps.endswith(f"vectorize{{loops=b width={lanes}}},parallel{{loops=bt}}")
    alone = proposal("field/batched_cholesky", target, 1)
    assert alone is not None and "parallel" not in str(alone)


@pytest.mark.parametrize("kernel", ["polybench/gesummv", "polybench/gemm", "field/kmeans_assign"])
def test_what_is_no_batch(kernel: str) -> None:
    """Sums along rows, products, and problems that share most of what they read."""
    assert proposal(kernel, WIDE, 2) is None


@pytest.mark.parametrize("size", [(5, 6), (31, 3), (64, 8), (17, 1)])
def test_results_of_the_kernel(size: tuple[int, ...]) -> None:
    schedule = proposal("field/batched_cholesky", Target.host(), 2)
    assert schedule is not None
    check_run("field/batched_cholesky", schedule, size)


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("target", [WIDE, NARROW], ids=["wide", "narrow"])
def test_solving_with_right_hand_sides(kind: str, target: Target) -> None:
    """Two arrays, one of them of vectors; bit for bit as it was written."""
    function = load(SOLVE.replace("f64", kind))["solve"]
    sizes = infer_extents(function.scop, {"batch": 4096, "n": 9})
    chosen = default_schedule(function.scop, sizes, target, threads=2)
    assert "array=A order=1,2,0" in str(chosen) and "array=x order=1,0" in str(chosen)
    dtype = {"f32": np.float32, "f64": np.float64}[kind]
    for batch, n in ((1, 4), (16, 9), (37, 5), (70, 12)):
        generator = np.random.default_rng(batch)
        matrices = (generator.normal(size=(batch, n, n)) + 9 * np.eye(n)).astype(dtype)
        x = generator.normal(size=(batch, n)).astype(dtype)
        found, expected = (matrices.copy(), x.copy()), (matrices.copy(), x.copy())
        function.compile(None, threads=1)(batch, n, *expected)
        function.compile(chosen, threads=2, verify=True)(batch, n, *found)
        for values, wanted in zip(found, expected, strict=True):
            np.testing.assert_array_equal(values, wanted)


def test_few_problems_stay_as_they_are() -> None:
    scop = load(SOLVE)["solve"].scop
    original = Schedule.original(scop, WIDE)
    for batch, n in ((24, 9), (4096, 300)):
        context = SchedulingContext(infer_extents(scop, {"batch": batch, "n": n}), 2)
        assert batches_in_lanes(original, original.tree, context) is None


def test_threads_do_not_ask_for_more_problems() -> None:
    """Where some would have too few strips, one thread has them all; the estimate shares them."""
    scop = load(SOLVE)["solve"].scop
    original = Schedule.original(scop, WIDE)
    for threads in (1, 2, 16):
        context = SchedulingContext(infer_extents(scop, {"batch": 40, "n": 20}), threads)
        schedule = batches_in_lanes(original, original.tree, context)
        assert schedule is not None and "parallel" not in str(schedule)


FILTER = """
func.func @filter(%batch: index, %steps: index, %F: memref<NxNxf64>, %z: memref<?x?xf64>,
                  %P: memref<?xNxNxf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %b = 0 to %batch {
    affine.for %t = 0 to %steps {
      %S = memref.alloca() : memref<NxNxf64>
      affine.for %i = 0 to N {
        affine.for %j = 0 to N {
          %sum = affine.for %k = 0 to N iter_args(%s = %zero) -> (f64) {
            %0 = affine.load %F[%i, %k] : memref<NxNxf64>
            %1 = affine.load %P[%b, %k, %j] : memref<?xNxNxf64>
            %2 = arith.mulf %0, %1 : f64
            %3 = arith.addf %s, %2 : f64
            affine.yield %3 : f64
          }
          affine.store %sum, %S[%i, %j] : memref<NxNxf64>
        }
      }
      affine.for %i = 0 to N {
        affine.for %j = 0 to N {
          %4 = affine.load %S[%j, %i] : memref<NxNxf64>
          %5 = affine.load %z[%t, %b] : memref<?x?xf64>
          %6 = arith.addf %4, %5 : f64
          affine.store %6, %P[%b, %i, %j] : memref<?xNxNxf64>
        }
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("target", [WIDE, NARROW], ids=["wide", "narrow"])
def test_filters_with_a_matrix_that_all_problems_share(kind: str, target: Target, n: int) -> None:
    """What is multiplied by the shared matrix is there for one step of a problem at a time."""
    function = load(FILTER.replace("N", str(n)).replace("f64", kind))["filter"]
    sizes = infer_extents(function.scop, {"batch": 4096, "steps": 9})
    chosen = default_schedule(function.scop, sizes, target, threads=2)
    assert "array=P order=1,2,0" in str(chosen) and "parallel{loops=bt}" in str(chosen)
    dtype = {"f32": np.float32, "f64": np.float64}[kind]
    for batch, steps in ((1, 4), (16, 9), (37, 1), (70, 6)):
        generator = np.random.default_rng(batch)
        shared = generator.normal(size=(n, n)).astype(dtype) / n
        z = generator.normal(size=(steps, batch)).astype(dtype)
        found = generator.normal(size=(batch, n, n)).astype(dtype)
        expected = found.copy()
        function.compile(None, threads=1)(batch, steps, shared, z, expected)
        function.compile(chosen, threads=2, verify=True)(batch, steps, shared, z, found)
        np.testing.assert_array_equal(found, expected)
