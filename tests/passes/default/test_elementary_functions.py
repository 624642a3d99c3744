"""Vectors where elementary functions are most of the work: two registers, along any loop."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from support.targets import NARROW, WIDE

import loopwright
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.default.outer_vectors import outer_vectors
from loopwright.passes.estimate.estimate import estimate
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.isl_context import ISL_LOCK
from loopwright.passes.schedules.schedule import Schedule

LOGISTIC = """
func.func @logistic(%n: index, %x: memref<?xTYPE>, %y: memref<?xTYPE>) {
  %one = arith.constant 1.0 : TYPE
  affine.for %k = 0 to %n {
    %0 = affine.load %x[%k] : memref<?xTYPE>
    %1 = arith.negf %0 : TYPE
    %2 = math.FUNCTION %1 : TYPE
    %3 = arith.addf %2, %one : TYPE
    %4 = arith.divf %one, %3 : TYPE
    affine.store %4, %y[%k] : memref<?xTYPE>
  }
  return
}
"""

# A product along each row that is also summed up: neither keeps its order in another way.
GROWTH = """
func.func @growth(%rows: index, %columns: index, %rate: memref<?x?xTYPE>, %mean: memref<?xTYPE>) {
  %one = arith.constant 1.0 : TYPE
  %zero = arith.constant 0.0 : TYPE
  affine.for %r = 0 to %rows {
    %last, %total = affine.for %c = 0 to %columns
        iter_args(%level = %one, %sum = %zero) -> (TYPE, TYPE) {
      %0 = affine.load %rate[%r, %c] : memref<?x?xTYPE>
      %1 = math.FUNCTION %0 : TYPE
      %2 = arith.mulf %level, %1 : TYPE
      %3 = arith.addf %sum, %2 : TYPE
      affine.yield %2, %3 : TYPE, TYPE
    }
    affine.store %total, %mean[%r] : memref<?xTYPE>
  }
  return
}
"""


def chosen(text: str, function: str, scalar: str, target: Target, **sizes: int) -> Schedule:
    text = text.replace("FUNCTION", function).replace("TYPE", scalar)
    (found,) = loopwright.load(text).values()
    return default_schedule(found.scop, infer_extents(found.scop, sizes), target, threads=1)


@pytest.mark.parametrize(("scalar", "width"), [("f32", 16), ("f64", 8)])
@pytest.mark.parametrize("function", ["exp", "tanh", "erf"])
def test_vectors_have_two_registers(function: str, scalar: str, width: int) -> None:
    schedule = chosen(LOGISTIC, function, scalar, NARROW, n=100_000)
    assert str(schedule) == f"vectorize{{loops=k width={width}}}"


def with_library(target: Target) -> Target:
    """A machine for which there are no elementary functions of our own."""
    return replace(target, features=target.features - {"fma", "asimd"})


def test_calls_of_the_library_have_none() -> None:
    for target in map(with_library, (NARROW, WIDE)):
        assert "width" not in str(chosen(LOGISTIC, "atan", "f64", target, n=100_000))


@pytest.mark.parametrize("scalar", ["f32", "f64"])
def test_each_lane_runs_a_recurrence_of_its_own(scalar: str) -> None:
    schedule = chosen(GROWTH, "exp", scalar, NARROW, rows=5000, columns=90)
    assert re.search(r"vectorize{loops=(S\d\.)?r ", str(schedule))
    # The rest is as it was: nothing is gained where each lane calls the library.
    library = with_library(NARROW)
    assert "vectorize" not in str(chosen(GROWTH, "atan", scalar, library, rows=5000, columns=90))


STEPS = """
func.func @steps(%n: index, %x: memref<?xTYPE>, %y: memref<?xTYPE>) {
  %c = arith.constant 0.5 : TYPE
  affine.for %i = 0 to %n {
    %r = affine.for %it = 0 to 4 iter_args(%s = %c) -> (TYPE) {
      %0 = affine.load %x[%i] : memref<?xTYPE>
      %1 = arith.mulf %s, %0 : TYPE
      %2 = math.FUNCTION %1 : TYPE
      %3 = arith.subf %s, %2 : TYPE
      affine.yield %3 : TYPE
    }
    affine.store %r, %y[%i] : memref<?xTYPE>
  }
  return
}
"""


@pytest.mark.parametrize("scalar", ["f32", "f64"])
@pytest.mark.parametrize("function", ["erfc", "pow"])
def test_loops_around_functions_are_not_unrolled_for_vectors(function: str, scalar: str) -> None:
    """LLVM sees the code of the functions: four copies of it are too much for full unrolling."""
    text = STEPS.replace("FUNCTION", function).replace("TYPE", scalar)
    text = text.replace("math.pow %1", "math.powf %1, %0")
    (found,) = loopwright.load(text).values()
    original = Schedule.original(found.scop, NARROW)
    context = SchedulingContext(infer_extents(found.scop, {"n": 2000}), 1)
    vectors = found.schedule("vectorize{loops=i}", NARROW)
    with ISL_LOCK:
        assert estimate(original, context) > 3 * estimate(vectors, context)


def test_functions_are_work_enough_for_threads() -> None:
    text = STEPS.replace("FUNCTION", "erfc").replace("TYPE", "f64")
    (found,) = loopwright.load(text).values()
    schedule = Schedule.original(found.scop, NARROW)
    context = SchedulingContext(infer_extents(found.scop, {"n": 2000}), 2)
    answer = outer_vectors(schedule, schedule.tree, context)
    # Vectors of four registers, as each step waits for the one before, and threads.
    assert str(answer) == "vectorize{loops=i width=16},parallel{loops=i}"
