"""Which code LLVM's vectorisers make only a part of: elementary functions, sums in order."""

from __future__ import annotations

import pytest

from loopwright.passes.estimate.in_core import CoreCycles, InCoreTime
from loopwright.passes.estimate.scheduled_program import ScheduledProgram
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.schedule_tree import leaves
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline
from loopwright.runtime.program import load

pytestmark = pytest.mark.usefixtures("zen3")

KINDS = pytest.mark.parametrize("kind", ["f32", "f64"])


def scheduled(text: str, kind: str, steps: str = "") -> Schedule:
    schedule = Schedule.original(load(text.replace("TYPE", kind))["f"].scop)
    return schedule.apply_all(parse_pipeline(steps)) if steps else schedule


def cycles(schedule: Schedule) -> CoreCycles:
    """The cycles of the only statement."""
    ((leaf, loops),) = leaves(schedule.tree, ())
    found = InCoreTime(ScheduledProgram(schedule, SchedulingContext({}, 1))).cycles(leaf, loops)
    assert found is not None
    return found


FUNCTIONS = """
func.func @f(%x: memref<90x8xTYPE>, %y: memref<8xTYPE>) {
  affine.for %i = 0 to 90 {
    affine.for %j = 0 to 8 {
      %0 = affine.load %x[%i, %j] : memref<90x8xTYPE>
      %1 = math.exp %0 : TYPE
      %2 = arith.mulf %0, %1 : TYPE
      %3 = affine.load %y[%j] : memref<8xTYPE>
      %4 = arith.addf %2, %3 : TYPE
      affine.store %4, %y[%j] : memref<8xTYPE>
    }
  }
  return
}
"""


@KINDS
def test_llvm_packs_a_part_of_elementary_functions(kind: str) -> None:
    packed = cycles(scheduled(FUNCTIONS, kind, "unroll{loops=j}"))
    marked = cycles(scheduled(FUNCTIONS, kind, "vectorize{loops=j width=8}"))
    assert packed.operations / packed.lanes > 2 * marked.operations / marked.lanes


ORDERED = """
func.func @f(%x: memref<900xTYPE>, %y: memref<900xTYPE>, %s: memref<1xTYPE>) {
  affine.for %i = 0 to 900 {
    %0 = affine.load %x[%i] : memref<900xTYPE>
    %1 = affine.load %y[%i] : memref<900xTYPE>
    %2 = OPERATION %0, %1 : TYPE
    %3 = affine.load %s[0] : memref<1xTYPE>
    %4 = arith.addf %3, %2 : TYPE
    affine.store %4, %s[0] : memref<1xTYPE>
  }
  return
}
"""


@KINDS
@pytest.mark.parametrize(("operation", "is_vector"), [("arith.divf", True), ("arith.mulf", False)])
def test_llvm_makes_vectors_of_terms_that_are_added_in_order(
    kind: str, operation: str, is_vector: bool
) -> None:
    """Not of products, which the sums are fused with."""
    schedule = scheduled(ORDERED.replace("OPERATION", operation), kind)
    found = cycles(schedule)
    assert (found.lanes > 1) == is_vector
    assert found.latency / found.lanes == pytest.approx(
        schedule.target.latencies["additions"], rel=0.4
    )
