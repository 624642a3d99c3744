"""Expanded scalars as a schedule stores them: contracted to what lives at the same time."""

from __future__ import annotations

from support.scops import schedule_of

from loopwright.passes.estimate.local_extents import stored_statistics
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline

ROW_SUMS = """
func.func @f(%n: index, %m: index, %A: memref<?x?xf64>, %B: memref<?xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to %n {
    %sum = affine.for %j = 0 to %m iter_args(%s = %zero) -> (f64) {
      %0 = affine.load %A[%i, %j] : memref<?x?xf64>
      %1 = arith.addf %s, %0 : f64
      affine.yield %1 : f64
    }
    %square = arith.mulf %sum, %sum : f64
    affine.store %square, %B[%i] : memref<?xf64>
  }
  EMPTY
  return
}
"""

EMPTY = """
  affine.for %k = 0 to 0 {
    %one = affine.for %j = 0 to 3 iter_args(%s = %zero) -> (f64) {
      %1 = arith.addf %s, %s : f64
      affine.yield %1 : f64
    }
    %double = arith.addf %one, %one : f64
    affine.store %double, %B[%k] : memref<?xf64>
  }
"""


def extents(schedule: Schedule) -> set[tuple[int, ...]]:
    sizes = infer_extents(schedule.scop, {"n": 30, "m": 40})
    statistics = stored_statistics(schedule, SchedulingContext(sizes, 1))
    return set(statistics.expanded.values())


def test_one_element_while_a_loop_is_shared_and_all_once_it_is_distributed() -> None:
    original = schedule_of(ROW_SUMS.replace("EMPTY", ""))
    assert extents(original) == {(1,)}
    assert extents(original.apply_all(parse_pipeline("distribute{loops=i}"))) == {(30,)}


def test_statements_that_never_run_are_left_out() -> None:
    assert (1,) in extents(schedule_of(ROW_SUMS.replace("EMPTY", EMPTY)))
