"""Chains of operations from one iteration to the next, through several statements."""

from __future__ import annotations

import pytest
from support.scops import schedule_of

from loopwright.passes.estimate.recurrence_bound import recurrence
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.schedule_tree import loops
from loopwright.passes.schedules.schedule import Schedule

ZEN4 = Target.named("zen4")
ADD, DIVIDE = ZEN4.latencies["additions"], ZEN4.latencies["divisions"]

STEPS = """
func.func @f(%b: f64, %x: memref<64xf64>, %p: memref<64xf64>, %q: memref<64xf64>) {
  affine.for %i = 0 to 64 {
    affine.for %t = 0 to 20 {
      %0 = affine.load %x[%i] : memref<64xf64>
      %1 = arith.addf %0, %b : f64
      affine.store %1, %p[%i] : memref<64xf64>
      %2 = affine.load %FROM[%i] : memref<64xf64>
      %3 = arith.divf %2, %b : f64
      affine.store %3, %q[%i] : memref<64xf64>
      %4 = affine.load %q[%i] : memref<64xf64>
      %5 = affine.load %x[%i] : memref<64xf64>
      %6 = arith.addf %5, %4 : f64
      affine.store %6, %x[%i] : memref<64xf64>
    }
  }
  return
}
"""


@pytest.mark.parametrize(("source", "cycles"), [("p", 2 * ADD + DIVIDE), ("q", DIVIDE)])
def test_values_go_through_statements_of_an_iteration(source: str, cycles: float) -> None:
    original = Schedule.original(schedule_of(STEPS.replace("FROM", source)).scop, ZEN4)
    rows, steps = loops(original.tree)
    assert recurrence(original, ["S0", "S1", "S2"], steps) == cycles
    assert recurrence(original, ["S0", "S1", "S2"], rows) == 0


def test_a_statement_alone_waits_for_itself() -> None:
    original = Schedule.original(schedule_of(STEPS.replace("FROM", "p")).scop, ZEN4)
    _, steps = loops(original.tree)
    assert recurrence(original, ["S2"], steps) == ADD
    assert recurrence(original, ["S1"], steps) == 0
