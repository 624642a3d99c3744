"""The default schedule by a model: what is rated, and when the analytical choice stands."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from support.searching import SIZES, Wishes, task
from support.targets import WIDE

from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.estimate.estimate import Roofline, estimate
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.isl_context import TooComplexError
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.search import default_choice
from loopwright.passes.search.default_choice import (
    MARGIN,
    Proposals,
    Rated,
    decide,
    disbelief,
    propose,
    rate,
)
from loopwright.passes.search.work_limit import MANY, REWRITING, WorkLimit
from loopwright.passes.syntax.pipeline import parse_pipeline


def question() -> tuple[Schedule, SchedulingContext]:
    return task(Wishes()).original, SchedulingContext(SIZES, 2)


@pytest.fixture(scope="module", name="proposals")
def _proposals() -> Proposals:
    return propose(*question())


def test_the_proposals_are_those_of_the_analytical_choice(proposals: Proposals) -> None:
    usual = default_schedule(proposals.original.scop, SIZES, WIDE, threads=2)
    assert str(proposals.analytical) == str(usual)
    assert proposals.analytical in proposals.candidates
    for schedule, answers in proposals.candidates.items():
        steps = answers[0].before.transformations
        assert schedule.transformations[: len(steps)] == steps
        assert {name for answer in answers for name in answer.names} <= {"S0"}


def test_each_schedule_is_rated_once_and_neighbours_of_the_best_are_among_them(
    proposals: Proposals,
) -> None:
    model = Wishes()
    rated = rate(proposals, model)
    texts = [str(each.schedule) for each in rated]
    assert len(set(texts)) == len(texts)
    assert {"", str(proposals.analytical)} <= set(texts)
    assert set(model.asked) == set(texts)
    # The wish for another vector loop cannot be had from the strategies alone.
    assert len(rated) > len(proposals.candidates) + 2
    gains = [each.gain for each in rated]
    assert gains == sorted(gains, reverse=True)


@pytest.mark.parametrize(("gain", "is_taken"), [(0.99 * MARGIN, False), (1.01 * MARGIN, True)])
def test_the_analytical_choice_stands_within_the_margin(
    gain: float, is_taken: bool, proposals: Proposals
) -> None:
    analytical = proposals.analytical
    other = proposals.original.apply_all(analytical.transformations[:-1])
    chosen = decide(proposals, [Rated(other, gain), Rated(proposals.analytical, 1.0)])
    assert (chosen is other) == is_taken
    assert (chosen is proposals.analytical) != is_taken


def test_what_the_estimate_contradicts_is_not_taken(proposals: Proposals) -> None:
    """As written, the product takes many times as long, whatever a model promises."""
    written, analytical = proposals.original, proposals.analytical
    rated = [Rated(written, 1000.0), Rated(analytical, 1.0)]
    assert estimate(written, proposals.context) > 2 * estimate(analytical, proposals.context)
    assert decide(proposals, rated) is analytical


@pytest.mark.parametrize("speedup", [0.01, 1.0, 1000.0])
def test_how_much_longer_than_the_estimate_says(speedup: float, proposals: Proposals) -> None:
    """What a model says of the analytical choice, as a multiple of what the estimate says."""

    class Certain(Wishes):
        def predict(self, context: SchedulingContext, schedules: Sequence[Schedule]) -> list[float]:
            return [speedup] * len(schedules)

    (estimated,) = Roofline().predict(proposals.context, [proposals.analytical])
    assert disbelief(proposals, Certain()) == pytest.approx(estimated / speedup)


class Divided(Wishes):
    """A committee: one member has the wishes, the other one does not care."""

    def opinions(
        self, context: SchedulingContext, schedules: Sequence[Schedule]
    ) -> Sequence[Sequence[float]]:
        return [self.predict(context, schedules), [1.0] * len(schedules)]


def test_a_member_that_is_not_convinced_is_enough(proposals: Proposals) -> None:
    rated = rate(proposals, Divided())
    assert max(each.gain for each in rated) == 1.0
    assert decide(proposals, rated) is proposals.analytical


def test_work_bounds_the_candidates(proposals: Proposals) -> None:
    counts = [len(rate(proposals, Wishes(), work=work)) for work in (0, 60, 300)]
    assert counts == sorted(set(counts))
    assert counts[0] <= len(proposals.candidates) + 2


def test_what_the_labels_do_not_cover_is_not_rated(proposals: Proposals) -> None:
    def is_covered(schedule: Schedule) -> bool:
        return len(schedule.transformations) <= len(proposals.analytical.transformations)

    rated = rate(proposals, Wishes(), is_covered)
    assert rated and all(is_covered(each.schedule) for each in rated)
    assert len(rated) < len(rate(proposals, Wishes()))
    model = Wishes()
    assert rate(proposals, model, lambda schedule: schedule is not proposals.analytical) == []
    assert model.asked == []


def test_steps_that_rewrite_the_program_are_more_work() -> None:
    steps = parse_pipeline("tile{loops=i,j sizes=8,8},pack{loops=it array=A}")
    work = WorkLimit(2 * REWRITING, 3)
    assert work.spend(steps) and work.spent == REWRITING + 1
    assert not work.spend(steps) and work.spent == REWRITING + 1
    assert work.spend(steps[:1])
    many = WorkLimit(REWRITING, 5 * MANY)
    assert many.spend(steps[:1]) and many.spent == 6


def test_neither_a_clock_nor_what_was_asked_before_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    first = [(str(each.schedule), each.gain) for each in rate(propose(*question()), Wishes())]
    ticks = iter(range(10**9))
    for clock in ("monotonic", "perf_counter", "process_time"):
        monkeypatch.setattr(time, clock, lambda: float(next(ticks)))
    same = question()
    for _ in range(2):  # the second time, what isl has found out is remembered
        again = rate(propose(*same), Wishes())
        assert [(str(each.schedule), each.gain) for each in again] == first


def test_where_isl_runs_away_nothing_is_rated(
    proposals: Proposals, monkeypatch: pytest.MonkeyPatch
) -> None:
    def runs_away(*_: object) -> None:
        raise TooComplexError("isl gave up")

    monkeypatch.setattr(default_choice, "neighbours", runs_away)
    assert rate(proposals, Wishes()) == []
    assert decide(proposals, []) is proposals.analytical


def test_a_program_with_little_work_is_not_asked_about() -> None:
    original, _ = question()
    model = Wishes()
    proposals = propose(original, SchedulingContext(dict.fromkeys(SIZES, 8), 2))
    assert proposals.candidates == {} and rate(proposals, model) == [] and model.asked == []
    assert proposals.analytical.transformations == ()
