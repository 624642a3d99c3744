"""Searches on small programs with models that are known."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from loopwright.dialects.parse import parse_module
from loopwright.passes.default.request import Request
from loopwright.passes.pipeline import parse_pipeline
from loopwright.passes.polyhedral.raising import raise_module
from loopwright.passes.schedule import Schedule
from loopwright.passes.schedule_tree import loops
from loopwright.passes.search.beam import BeamSearch
from loopwright.passes.search.ledger import Ledger
from loopwright.passes.search.mcts import MonteCarloSearch
from loopwright.passes.search.protocols import CostModel, Search
from loopwright.passes.search.result import Task
from loopwright.passes.search.roofline import Roofline
from loopwright.passes.search.searching import search

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

SEARCHES: dict[str, Search] = {
    "beam": BeamSearch(beam=2),
    "mcts": MonteCarloSearch(iterations=20),
}


class Wishes:
    """A model with whom every mark on the right loop counts: j in vectors, i in parallel."""

    name = "wishes"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def predict(self, request: Request, schedules: Sequence[Schedule]) -> list[float]:
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
    return Task(Schedule.original(scop), Request(SIZES, 2), model, seed=seed, budget=budget)


@pytest.mark.parametrize("name", SEARCHES)
def test_the_optimum_is_found(name: str) -> None:
    result = search(SEARCHES[name], task(Wishes()))
    assert result.predicted == 7.0
    assert result.measured is None
    assert result.ended == "done"
    assert result.path[0].step == "as written" and result.path[0].predicted == 1.0
    assert result.path[-1].predicted == 7.0
    assert [step.step for step in result.path[1:]] == list(map(str, result.best.transformations))


@pytest.mark.parametrize("name", SEARCHES)
def test_nothing_is_asked_twice(name: str) -> None:
    model = Wishes()
    given = task(model)
    result = search(SEARCHES[name], given)
    ledger = Ledger(given)
    asked = model.asked[: result.predictions]
    keys = [ledger.key(given.original.apply_all(parse_pipeline(text))) for text in asked]
    assert len(set(keys)) == len(keys) == result.candidates


@pytest.mark.parametrize("name", SEARCHES)
def test_a_seed_gives_the_same_schedule(name: str) -> None:
    first = search(SEARCHES[name], task(Roofline(), seed=3))
    second = search(SEARCHES[name], task(Roofline(), seed=3))
    assert str(first.best) == str(second.best)
    assert first.candidates == second.candidates
    assert first.path == second.path


class Stopping(Wishes):
    """A user who loses patience after some predictions."""

    def predict(self, request: Request, schedules: Sequence[Schedule]) -> list[float]:
        if len(self.asked) > 20:
            self.asked = []
            raise KeyboardInterrupt
        return super().predict(request, schedules)


@pytest.mark.parametrize("name", SEARCHES)
def test_an_interrupt_gives_the_best_so_far(name: str) -> None:
    result = search(SEARCHES[name], task(Stopping()))
    assert result.ended == "interrupted"
    assert result.predicted > 1.0


@pytest.mark.parametrize("name", SEARCHES)
def test_a_spent_budget_gives_the_best_so_far(name: str) -> None:
    result = search(SEARCHES[name], task(Roofline(), budget=1e-6))
    assert result.ended == "time"
    assert result.best.transformations == ()
