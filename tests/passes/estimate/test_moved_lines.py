"""What several threads have written moves to the core of a sequential nest."""

from __future__ import annotations

import pytest
from support.targets import WIDE

from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.estimate.estimate import estimate
from loopwright.passes.estimate.memory_traffic import MemoryTraffic
from loopwright.passes.estimate.moved_lines import MOVED_LINE, moved_line_seconds
from loopwright.passes.estimate.scheduled_program import ScheduledProgram
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.formats import apply_text
from loopwright.runtime.program import load

# Rows are filled, then swept over from both sides in place.
SWEEP = """
func.func @f(%n: index, %m: index, %A: memref<?x?xTYPE>, %D: memref<?x?xTYPE>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %0 = affine.load %A[%i, %j] : memref<?x?xTYPE>
      %1 = arith.mulf %0, %0 : TYPE
      affine.store %1, %D[%i, %j] : memref<?x?xTYPE>
    }
  }
  affine.for %i = 1 to %n {
    affine.for %j = 1 to %m {
      %0 = affine.load %D[%i - 1, %j] : memref<?x?xTYPE>
      %1 = affine.load %D[%i, %j - 1] : memref<?x?xTYPE>
      %2 = affine.load %D[%i, %j] : memref<?x?xTYPE>
      %3 = arith.minimumf %0, %1 : TYPE
      %4 = arith.minimumf %2, %3 : TYPE
      affine.store %4, %D[%i, %j] : memref<?x?xTYPE>
    }
  }
  return
}
"""


def schedule(kind: str, steps: str = "") -> Schedule:
    original = Schedule.original(load(SWEEP.replace("TYPE", kind))["f"].scop, WIDE)
    return apply_text(steps, original) if steps else original


def context(schedule: Schedule, threads: int, n: int = 300, m: int = 512) -> SchedulingContext:
    return SchedulingContext(infer_extents(schedule.scop, {"n": n, "m": m}), threads)


def seconds(schedule: Schedule, threads: int, **sizes: int) -> float:
    program = ScheduledProgram(schedule, context(schedule, threads, **sizes))
    return moved_line_seconds(program, MemoryTraffic(program), schedule.tree)


@pytest.mark.parametrize(("kind", "size"), [("f32", 4), ("f64", 8)])
def test_half_of_what_two_threads_have_written_is_elsewhere(kind: str, size: int) -> None:
    shared = schedule(kind, "parallel{loops=S0.i}")
    expected = 300 * 512 * size / 2 / WIDE.cache_line * MOVED_LINE
    assert seconds(shared, 2) == pytest.approx(expected, rel=0.01)
    assert seconds(shared, 1) == 0
    assert seconds(schedule(kind), 2) == 0
    # What no cache of a core holds is in memory, wherever it was written.
    largest = WIDE.capacity(2) / WIDE.cache_line * MOVED_LINE
    assert seconds(shared, 2, n=20000) == pytest.approx(largest)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_a_short_nest_is_not_shared_out_before_a_sequential_one(kind: str) -> None:
    original = schedule(kind)
    known = context(original, 2)
    shared = schedule(kind, "parallel{loops=S0.i}")
    assert estimate(shared, known) > estimate(original, known)


def test_both_nests_are_shared_out_where_both_can_be() -> None:
    text = SWEEP.replace("%D[%i, %j - 1]", "%A[%i, %j - 1]")
    text = text.replace("%D[%i - 1, %j]", "%A[%i - 1, %j]").replace("TYPE", "f64")
    original = Schedule.original(load(text)["f"].scop, WIDE)
    found = default_schedule(original.scop, {"n": 400, "m": 512}, WIDE, threads=2)
    assert "parallel" in str(found)
