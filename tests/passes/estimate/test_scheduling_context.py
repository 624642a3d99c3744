"""What a context keeps of statements that several programs have."""

from __future__ import annotations

from support.scops import schedule_of

from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.inspections import inspections
from loopwright.passes.syntax.pipeline import parse_pipeline

LOOKUPS = """func.func @f(%I: memref<9xi32>, %A: memref<7x4xf64>, %B: memref<9x4xf64>) {
  affine.for %i = 0 to 9 {
    affine.for %j = 0 to 4 {
      %w = affine.load %I[%i] : memref<9xi32>
      %k = arith.index_cast %w : i32 to index
      %v = memref.load %A[%k, %j] : memref<7x4xf64>
      affine.store %v, %B[%i, %j] : memref<9x4xf64>
    }
  }
  affine.for %p = 0 to 9 {
    affine.for %q = 0 to 4 {
      %w = affine.load %I[%p] : memref<9xi32>
      %k = arith.index_cast %w : i32 to index
      %v = memref.load %A[%k, %q] : memref<7x4xf64>
      %o = affine.load %B[%p, %q] : memref<9x4xf64>
      %s = arith.addf %v, %o : f64
      affine.store %s, %B[%p, %q] : memref<9x4xf64>
    }
  }
  return
}"""


def test_what_is_compared_ahead_is_that_of_each_program() -> None:
    """A step packs the subscripts of the first nest; the second one's statement stays as it is."""
    before = schedule_of(LOOKUPS)
    after = before.apply_all(parse_pipeline("pack{loops=i array=I}"))
    assert before.scop.statement("S1") is after.scop.statement("S1")
    context = SchedulingContext({}, 1)
    for schedule in (before, after, before):
        found = context.statistics(schedule.scop).statements
        expected = inspections(schedule.scop).gathers
        for name, statement in found.items():
            assert statement.inspected == expected.get(name, frozenset())
    assert len(inspections(before.scop).gathers["S1"]) == 1
    assert not inspections(after.scop).gathers["S1"]
