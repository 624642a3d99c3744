"""Threads that write to two parts of the same cache lines, again and again, wait for these."""

from __future__ import annotations

import pytest
from support.scops import schedule_of

from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.estimate.false_sharing import SHARED_LINE, shared_line_seconds
from loopwright.passes.estimate.scheduled_program import ScheduledProgram, outermost_parallel_loops
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.syntax.pipeline import parse_pipeline

FILTER = """
func.func @f(%n: index, %c: index, %x: memref<?x?xTYPE>, %z: memref<4x?xTYPE>) {
  affine.for %t = 0 to %n {
    affine.for %k = 0 to %c {
      affine.for %s = 0 to 4 {
        %0 = affine.load %x[%t, %k] : memref<?x?xTYPE>
        %1 = affine.load %z[%s, %k] : memref<4x?xTYPE>
        %2 = arith.addf %0, %1 : TYPE
        %3 = arith.mulf %2, %1 : TYPE
        affine.store %3, %z[%s, %k] : memref<4x?xTYPE>
      }
    }
  }
  return
}
"""
STRIPS = "strip-mine{loops=k size=16},interchange{loops=kt,t},parallel{loops=kt}"
ROWS = "interchange{loops=s,t,k},parallel{loops=s}"


@pytest.mark.parametrize(
    ("pipeline", "columns", "threads", "lines"),
    [(STRIPS, 32, 2, 4), (STRIPS, 64, 4, 4), (STRIPS, 320, 2, 0), (ROWS, 32, 4, 0)],
)
def test_lines_at_borders_of_strips(pipeline: str, columns: int, threads: int, lines: int) -> None:
    """Of rows that are shared; not where each thread has many strips, or rows of its own."""
    schedule = schedule_of(FILTER.replace("TYPE", "f32")).apply_all(parse_pipeline(pipeline))
    sizes = infer_extents(schedule.scop, {"n": 1000, "c": columns})
    program = ScheduledProgram(schedule, SchedulingContext(sizes, threads))
    ((loop, outer),) = outermost_parallel_loops(schedule.tree)
    found = shared_line_seconds(program, loop, outer)
    assert found == pytest.approx(1000 * lines * SHARED_LINE)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_narrow_states_of_filters_are_not_shared(zen3: None, kind: str) -> None:
    scop = schedule_of(FILTER.replace("TYPE", kind)).scop
    for n, c in ((20000, 32), (9000, 48)):
        chosen = str(default_schedule(scop, infer_extents(scop, {"n": n, "c": c}), threads=2))
        assert "parallel{loops=kt}" not in chosen


UNPACK = """
func.func @f(%n: index, %p: memref<?x?xf64>, %a: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to END {
      %0 = affine.load %p[%i, %j] : memref<?x?xf64>
      affine.store %0, %a[%j, %i] : memref<?x?xf64>
    }
  }
  return
}
"""


@pytest.mark.parametrize(
    ("end", "place", "lines"),
    [
        ("affine_map<(d0) -> (d0 + 1)>(%i)", "%j, %i", 15 * 200.5),
        # Threads have one part each of a rectangle, and rows of their own elsewhere.
        ("%n", "%j, %i", 0),
        ("affine_map<(d0) -> (d0 + 1)>(%i)", "%i, %j", 0),
    ],
)
def test_columns_of_triangles_are_taken_in_turn(end: str, place: str, lines: float) -> None:
    text = UNPACK.replace("END", end).replace("%a[%j, %i]", f"%a[{place}]")
    schedule = schedule_of(text).apply_all(parse_pipeline("parallel{loops=i}"))
    sizes = infer_extents(schedule.scop, {"n": 400})
    program = ScheduledProgram(schedule, SchedulingContext(sizes, 2))
    ((loop, outer),) = outermost_parallel_loops(schedule.tree)
    found = shared_line_seconds(program, loop, outer)
    assert found == pytest.approx(lines * SHARED_LINE, rel=0.01)
