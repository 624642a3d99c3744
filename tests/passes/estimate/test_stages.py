"""Stages of a nest: shares of its traffic, and threads that wait between them."""

from __future__ import annotations

import pytest
from support.scops import schedule_of

from loopwright.passes.estimate.estimate import estimate
from loopwright.passes.estimate.scheduled_program import ScheduledProgram
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.estimate.stages import shares, stages
from loopwright.passes.polyhedral.schedule_tree import Loop
from loopwright.passes.syntax.pipeline import parse_pipeline

TEXT = """
func.func @f(%A: memref<2000x500xf64>, %B: memref<2000x500xf64>, %C: memref<2000x500xf64>) {
  affine.for %i = 0 to 2000 {
    affine.for %j = 0 to 500 {
      %a = affine.load %A[%i, %j] : memref<2000x500xf64>
      affine.store %a, %B[%i, %j] : memref<2000x500xf64>
    }
  }
  affine.for %i = 0 to 1999 {
    affine.for %j = 0 to 500 {
      %b = affine.load %B[%i + 1, %j] : memref<2000x500xf64>
      affine.store %b, %C[%i, %j] : memref<2000x500xf64>
    }
  }
  return
}
"""
STRIPS = "fuse{loops=S0.i,S1.i shift=auto},strip-mine{loops=i size=40},distribute{loops=i}"


def program(marks: str) -> ScheduledProgram:
    schedule = schedule_of(TEXT).apply_all(parse_pipeline(STRIPS + marks))
    return ScheduledProgram(schedule, SchedulingContext({}, 2))


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ("", [1.0]),
        (",parallel{loops=S0.i},parallel{loops=S1.i}", [2 / 3, 1 / 3]),  # the second: C
        (",parallel{loops=S0.i}", [2 / 3, 4 / 3]),  # B and C, with one thread
    ],
)
def test_what_a_stage_finds_in_the_caches(marks: str, expected: list[float]) -> None:
    found = program(marks)
    nest = found.schedule.tree
    assert isinstance(nest, Loop)
    assert shares(found, stages(nest)) == pytest.approx(expected)


def test_a_stage_on_one_thread_is_slower_than_on_all() -> None:
    both, one = (
        program(f",parallel{{loops=S0.i}}{rest}") for rest in (",parallel{loops=S1.i}", "")
    )
    assert estimate(both.schedule, both.context) < 0.8 * estimate(one.schedule, one.context)
