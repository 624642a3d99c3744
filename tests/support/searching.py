"""A small program to schedule, and a model whose optimum is known."""

from __future__ import annotations

from collections.abc import Sequence

from loopwright.dialects.parse import parse_module
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.raising.raise_function import raise_module
from loopwright.passes.polyhedral.schedule_tree import loops
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.search.protocols import CostModel
from loopwright.passes.search.result import Task

from .targets import WIDE

PRODUCT = """
func.func @product(%n: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>, %C: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      affine.for %k = 0 to %n {
        %a = affine.load %A[%i, %k] : memref<?x?xf64>
        %b = affine.load %B[%k, %j] : memref<?x?xf64>
        %c = affine.load %C[%i, %j] : memref<?x?xf64>
        %p = arith.mulf %a, %b : f64
        %s = arith.addf %c, %p : f64
        affine.store %s, %C[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
"""

SIZES: dict[str, int] = {}
SIZES.update(
    dict.fromkeys(("A_dim0", "A_dim1", "B_dim0", "B_dim1", "C_dim0", "C_dim1"), 100), n=100
)


class Wishes:
    """A model with whom every mark on the right loop counts: j in vectors, i in parallel."""

    name = "wishes"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def predict(self, context: SchedulingContext, schedules: Sequence[Schedule]) -> list[float]:
        self.asked += map(str, schedules)
        return [self._rate(schedule) for schedule in schedules]

    def _rate(self, schedule: Schedule) -> float:
        value = 1.0
        for loop in loops(schedule.tree):
            value += 4.0 * (loop.vector == 8 and loop.name == "j")
            value += 2.0 * (loop.parallel and loop.name == "i")
            value -= 0.5 * (loop.vector is not None and loop.name != "j")
            value -= 0.1 * (loop.unroll is not None)
        return value


def task(model: CostModel, seed: int = 0, budget: float | None = None) -> Task:
    scop = raise_module(parse_module(PRODUCT))["product"]
    return Task(
        Schedule.original(scop, WIDE), SchedulingContext(SIZES, 2), model, seed=seed, budget=budget
    )
