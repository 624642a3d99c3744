"""Loads behind masked rows: what the last vector of a row has stored is loaded late."""

from __future__ import annotations

import pytest
from support.scops import schedule_of
from support.targets import WIDE

from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.estimate.masked_rows import behind_masked_rows
from loopwright.passes.estimate.scheduled_program import ScheduledProgram
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import Loop
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline

ROWS = """
func.func @f(%t: index, %n: index, %S: memref<?x?xKIND>, %r: memref<?x?xKIND>,
             %s: memref<?x?xKIND>) {
  affine.for %d = 0 to %t {
    affine.for %i = 0 to %n {
      affine.for %j = 0 to END {
        %0 = affine.load %S[%i, %j] : memref<?x?xKIND>
        %1 = affine.load %r[%d, %j] : memref<?x?xKIND>
        %2 = arith.addf %0, %1 : KIND
        affine.store %2, %S[%i, %j] : memref<?x?xKIND>
      }
      %3 = affine.load %S[%i, PLACE] : memref<?x?xKIND>
      affine.store %3, %s[%d, %i] : memref<?x?xKIND>
    }
  }
  return
}
"""


@pytest.mark.parametrize(
    ("kind", "end", "place", "n", "is_late"),
    [
        ("f64", "affine_map<(d0) -> (d0 + 1)>(%i)", "%i", 60, True),
        ("f32", "affine_map<(d0) -> (d0 + 1)>(%i)", "%i", 45, True),
        ("f64", "affine_map<(d0) -> (d0 + 1)>(%i)", "0", 8, True),
        ("f64", "%n", "%n - 1", 61, True),
        ("f64", "%n", "0", 61, False),
        ("f64", "%n", "%n - 1", 64, False),
        ("f64", "%n", "%n - 9", 61, False),
    ],
)
def test_elements_of_the_last_vector_are_late(
    kind: str, end: str, place: str, n: int, is_late: bool
) -> None:
    text = ROWS.replace("KIND", kind).replace("END", end).replace("PLACE", place)
    original = Schedule.original(schedule_of(text).scop, WIDE)
    schedule = original.apply_all(parse_pipeline("vectorize{loops=j width=8}"))
    context = SchedulingContext(infer_extents(schedule.scop, {"n": n, "t": 50}), 1)
    program = ScheduledProgram(schedule, context)
    assert isinstance(schedule.tree, Loop)
    found = behind_masked_rows(program, schedule.tree)
    assert {(name, access.array.name) for name, access in found} == (
        {("S1", "S")} if is_late else set()
    )
    assert isinstance(original.tree, Loop)
    assert not behind_masked_rows(ScheduledProgram(original, context), original.tree)


@pytest.mark.parametrize(("kind", "n"), [("f64", 60), ("f32", 90)])
def test_loads_of_diagonals_have_a_loop_of_their_own(kind: str, n: int) -> None:
    """Behind all rows, or else behind rows without masks."""
    end = "affine_map<(d0) -> (d0 + 1)>(%i)"
    scop = schedule_of(ROWS.replace("KIND", kind).replace("END", end).replace("PLACE", "%i")).scop
    sizes = infer_extents(scop, {"n": n, "t": 250})
    schedule = default_schedule(scop, sizes, WIDE, threads=1)
    program = ScheduledProgram(schedule, SchedulingContext(sizes, 1))
    for tree in schedule.tree.children if not isinstance(schedule.tree, Loop) else (schedule.tree,):
        assert isinstance(tree, Loop)
        assert not behind_masked_rows(program, tree)
