"""Contiguous runs of scheduled accesses, and what strips of wide rows are estimated to take."""

from __future__ import annotations

import pytest
from support.targets import NARROW

from loopwright.passes.estimate.contiguous_runs import contiguous_run, rows_together
from loopwright.passes.estimate.estimate import estimate
from loopwright.passes.estimate.scheduled_program import ScheduledProgram
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.schedule_tree import Loop, leaves
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.formats import apply_text
from loopwright.runtime.program import load

RECURRENCE = """
func.func @f(%A: memref<16384x256xf32>, %B: memref<16384x256xf32>) {
  affine.for %t = 1 to 16384 {
    affine.for %c = 0 to 256 {
      %0 = affine.load %B[%t - 1, %c] : memref<16384x256xf32>
      %1 = affine.load %A[%t, %c] : memref<16384x256xf32>
      %2 = arith.addf %0, %1 : f32
      affine.store %2, %B[%t, %c] : memref<16384x256xf32>
    }
  }
  return
}
"""
ROW, WHOLE = 256 * 4, 16383 * 256 * 4


def scheduled(text: str, schedule: str) -> ScheduledProgram:
    original = Schedule.original(load(text)["f"].scop, NARROW)
    return ScheduledProgram(apply_text(schedule, original), SchedulingContext({}, 1))


@pytest.mark.parametrize(
    ("schedule", "run"),
    [
        ("", WHOLE),
        ("strip-mine{loops=c size=64}", WHOLE),
        ("strip-mine{loops=c size=64},interchange{loops=ct,t}", 64 * 4),
        ("strip-mine{loops=c size=128},interchange{loops=ct,t}", 128 * 4),
        ("strip-mine{loops=c size=256},interchange{loops=ct,t}", WHOLE),
        ("unroll-and-jam{loops=t factor=4}", WHOLE),
        ("interchange{loops=c,t}", 4),
    ],
)
def test_runs_end_where_a_loop_jumps(schedule: str, run: float) -> None:
    if "jam" in schedule:
        text = RECURRENCE.replace("%B[%t - 1, %c]", "%A[%t - 1, %c]")
    else:
        text = RECURRENCE
    program = scheduled(text, schedule)
    ((leaf, loops),) = leaves(program.schedule.tree, ())
    statement = program.statement(leaf.statement)
    (access,) = [a for a in statement.statement.accesses if a.kind.name == "WRITE"]

    def is_cached(loop: Loop) -> bool:
        return loop.unroll == 0

    found = contiguous_run(program, statement, access, loops, 1, is_cached)
    assert found == pytest.approx(run, abs=ROW)


@pytest.mark.parametrize(
    ("schedule", "run"),
    [
        ("strip-mine{loops=c size=16},interchange{loops=ct,t}", 16 * 4),
        ("strip-mine{loops=c size=16},interchange{loops=ct,t},vectorize{loops=c width=16}", 16 * 4),
        ("interchange{loops=c,t},vectorize{loops=c width=32}", 32 * 4),
        ("tile{loops=t,c sizes=32,32}", WHOLE),
        ("tile{loops=t,c sizes=512,32}", 32 * 4),
    ],
)
def test_caches_do_not_join_runs_of_many_rows(schedule: str, run: float) -> None:
    program = scheduled(RECURRENCE, schedule)
    ((leaf, loops),) = leaves(program.schedule.tree, ())
    statement = program.statement(leaf.statement)
    (access,) = [a for a in statement.statement.accesses if a.kind.name == "WRITE"]

    def is_cached(loop: Loop) -> bool:
        return loop.name in ("t", "c")

    found = contiguous_run(program, statement, access, loops, 1, is_cached)
    assert found == pytest.approx(run, abs=ROW if run == WHOLE else 0)


def test_rows_of_a_stencil_count_together() -> None:
    program = scheduled(RECURRENCE, "")
    statement = program.statement("S0")
    counts = {a.array.name: rows_together(statement, a) for a in statement.statement.accesses}
    assert counts == {"A": 1, "B": 2}


def test_narrow_strips_of_rows_take_longer() -> None:
    strips = [
        scheduled(RECURRENCE, f"strip-mine{{loops=c size={size}}},interchange{{loops=ct,t}}")
        for size in (32, 128, 256)
    ]
    narrow, wide, whole = (estimate(each.schedule, each.context) for each in strips)
    written = scheduled(RECURRENCE, "")
    assert narrow > 1.2 * wide > 1.8 * whole
    assert whole == pytest.approx(estimate(written.schedule, written.context), rel=0.1)
