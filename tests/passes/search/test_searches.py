"""Searches on small programs with models that are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from support.searching import SIZES, Wishes, task

from loopwright.costmodel.papers.tiramisu2021.mcts import MonteCarloSearch
from loopwright.passes.estimate.estimate import Roofline
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.search.algorithm import Search
from loopwright.passes.search.beam import BeamSearch
from loopwright.passes.search.search_state import SearchState
from loopwright.passes.search.searching import search
from loopwright.passes.syntax.pipeline import parse_pipeline

SEARCHES: dict[str, Search] = {
    "beam": BeamSearch(beam=2),
    "mcts": MonteCarloSearch(iterations=20),
}


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
    state = SearchState(given)
    asked = model.asked[: result.predictions]
    keys = [state.key(given.original.apply_all(parse_pipeline(text))) for text in asked]
    assert len(set(keys)) == len(keys) == result.candidates


@pytest.mark.parametrize("name", SEARCHES)
def test_a_seed_gives_the_same_schedule(name: str) -> None:
    first = search(SEARCHES[name], task(Roofline(), seed=3))
    second = search(SEARCHES[name], task(Roofline(), seed=3))
    assert str(first.best) == str(second.best)
    assert first.candidates == second.candidates
    assert first.path == second.path


class Divided(Wishes):
    """A committee: one member has the wishes, the other one a share of them."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def opinions(
        self, context: SchedulingContext, schedules: Sequence[Schedule]
    ) -> Sequence[Sequence[float]]:
        first = self.predict(context, schedules)
        return [first, [1.0 + self.share * (each - 1.0) for each in first]]


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize(("share", "is_taken"), [(0.0, False), (0.1, True)])
def test_without_runs_every_member_must_prefer_it_to_the_default_schedule(
    name: str, share: float, is_taken: bool
) -> None:
    given = task(Divided(share))
    default = SearchState(given).default_schedule
    assert default.transformations
    result = search(SEARCHES[name], given)
    assert (str(result.best) != str(default)) == is_taken
    assert (result.predicted == 7.0) == is_taken
    assert bool(result.remarks) != is_taken


class Stopping(Wishes):
    """A user who loses patience after some predictions."""

    def predict(self, context: SchedulingContext, schedules: Sequence[Schedule]) -> list[float]:
        if len(self.asked) > 20:
            self.asked = []
            raise KeyboardInterrupt
        return super().predict(context, schedules)


@pytest.mark.parametrize("name", SEARCHES)
def test_an_interrupt_gives_the_best_so_far(name: str) -> None:
    result = search(SEARCHES[name], task(Stopping()))
    assert result.ended == "interrupted"
    assert result.predicted > 1.0


@pytest.mark.parametrize("name", SEARCHES)
def test_a_spent_budget_gives_the_default_schedule(name: str) -> None:
    given = task(Roofline(), budget=1e-6)
    result = search(SEARCHES[name], given)
    assert result.ended == "time"
    assert result.best.transformations
    assert str(result.best) == str(SearchState(given).default_schedule)


def test_without_runs_a_program_with_little_work_stays_as_written() -> None:
    given = task(Wishes())
    little = replace(given, context=SchedulingContext(dict.fromkeys(SIZES, 10), 2))
    result = search(BeamSearch(2), little)
    assert not result.best.transformations
    assert "too little" in result.remarks[0]
