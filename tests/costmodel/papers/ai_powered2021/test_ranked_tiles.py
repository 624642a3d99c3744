"""The search that ranks two levels of tiles and runs the first tenth."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import pytest
from support.searching import task

from loopwright.cli import main
from loopwright.costmodel.papers.ai_powered2021.ranked_tiles import RankedTiles
from loopwright.passes.estimate.estimate import Roofline
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.search.result import Task
from loopwright.passes.search.searching import search
from loopwright.passes.transformations.tile import Tile


def _points(schedule: Schedule) -> int:
    """The outermost tiles' sizes, added up."""
    return sum(next(s.sizes for s in schedule.transformations if isinstance(s, Tile)))


class LargestFirst:
    """Ranks by the sizes of tiles; runs find the second of its order the fastest."""

    def __init__(self) -> None:
        self.ranked: list[str] = []
        self.run: list[str] = []

    def rank(self, context: SchedulingContext, schedules: Sequence[Schedule]) -> list[int]:
        order = sorted(range(len(schedules)), key=lambda number: -_points(schedules[number]))
        self.ranked = [str(schedules[number]) for number in order]
        return order

    def measure(
        self, context: SchedulingContext, schedules: Sequence[Schedule], seconds: float = inf
    ) -> list[float]:
        self.run += map(str, schedules)
        return [9.0 if str(each) == self.ranked[1] else 2.0 for each in schedules]


def _task(ranker: LargestFirst, *, run: bool) -> Task:
    given = task(Roofline())
    return Task(
        given.original, given.context, given.model, evaluator=ranker if run else None, ranker=ranker
    )


def test_without_runs_the_first_one_is_taken() -> None:
    ranker = LargestFirst()
    result = search(RankedTiles(count=30), _task(ranker, run=False))
    assert str(result.best) == ranker.ranked[0]
    assert len(ranker.ranked) == 30 and not ranker.run


def test_the_first_tenth_is_run_and_the_fastest_taken() -> None:
    ranker = LargestFirst()
    result = search(RankedTiles(count=30), _task(ranker, run=True))
    assert str(result.best) == ranker.ranked[1]
    assert set(ranker.run) & set(ranker.ranked) == set(ranker.ranked[:3])


def test_mistakes_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", "gemm/gemm", "--size", "MINI", "--rank", "roofline"]) == 1
    assert "does not rank" in capsys.readouterr().err
    assert main(["tune", "gemm/gemm", "--size", "MINI", "--rank", "--search", "mcts"]) == 1
    assert "leave out --search" in capsys.readouterr().err
