"""The default schedule by a cost model: proposals and neighbours against the analytical choice.

The default scheduler proposes complete schedules, and the analytical estimate chooses one. A cost
model rates all of them, what else the strategies have for the same nests, and schedules one change
away from the best. Another schedule takes the place of the analytical choice only where every
member of the model is sure of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ...support.garbage_collection import garbage_collected_seldom
from ..default.default_schedule import (
    NestAnswer,
    answered_candidates,
    best_candidates,
    jammed_best,
    other_answers,
)
from ..estimate.estimate import Roofline, estimate
from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.isl_context import ISL_LOCK, TooComplexError, bounded
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from .protocols import CostModel
from .schedule_key import schedule_key
from .space.neighbours import neighbours
from .unanimity import unanimous_gains
from .work_limit import WorkLimit

MARGIN = 3.0
"""A schedule must be predicted to be so many times as fast as the analytical choice.

Chosen on random programs that the model has not learned from (`benchmarks/default_margin.py`): with
less of a promise, it may be slower.
"""

DISBELIEF = 4.0
"""A model that expects the analytical choice to take so many times as long as the estimate says has
not learned from code like it: on the suite `field`, all that it would take instead was slower."""

CONTRADICTION, MOST_DOUBTED = 2.0, 3
"""A schedule that the estimate says takes so many times as long as the analytical choice is not
taken, whatever a model promises; so many of the best are asked for."""

WORK = 200
"""Steps that may be applied for candidates beyond the scheduler's own: about 0.2 seconds, mostly.

What a clock says would make the choice another one from call to call.
"""

SHARE_OF_PROPOSALS = 0.5
"""Of the work, for other proposals; what is left of it is for neighbours."""

PARENTS = 2
"""So many of the best proposals have neighbours that are rated."""

MOST_SECONDS = 10.0
"""CPU time after which isl has run away, and the analytical choice stands."""


@dataclass(frozen=True)
class Proposals:
    """The analytical choice, and the complete schedules that it was chosen from.

    With each are the first answers for the nests of its order. No candidates: the program has too
    little work for any schedule to gain.
    """

    original: Schedule
    context: SchedulingContext
    analytical: Schedule
    candidates: Mapping[Schedule, Sequence[NestAnswer]]


@dataclass(frozen=True)
class Rated:
    """A candidate, and how many times as fast as the analytical choice it is predicted to be.

    By the least convinced member of the model.
    """

    schedule: Schedule
    gain: float


def propose(original: Schedule, context: SchedulingContext) -> Proposals:
    """The default schedule by the analytical estimate, and what it was chosen from."""
    found: dict[Schedule, Sequence[NestAnswer]] = {}

    def noted() -> Iterator[Schedule]:
        for answers, schedule in answered_candidates(original, context):
            found[schedule] = answers
            yield schedule

    with garbage_collected_seldom(), ISL_LOCK:
        best = best_candidates(original, context, noted())
        chosen, analytical = jammed_best(best, context)
        if analytical is not chosen:
            found[analytical] = found.get(chosen, ())
        return Proposals(original, context, analytical, found)


def rate(
    proposals: Proposals,
    model: CostModel,
    is_covered: Callable[[Schedule], bool] = lambda schedule: True,
    work: int = WORK,
) -> list[Rated]:
    """The candidates with what the model says, the best first; the analytical choice is among them.

    Only those that the model's experience covers; none where that does not cover the analytical
    choice, or isl runs away. Raises what the model raises for a program that it does not know the
    like of.
    """
    if not proposals.candidates or not is_covered(proposals.analytical):
        return []
    try:
        with garbage_collected_seldom(), bounded(seconds=MOST_SECONDS):
            return _rate(proposals, model, is_covered, work)
    except TooComplexError:
        return []


def disbelief(proposals: Proposals, model: CostModel) -> float:
    """How many times as long as the estimate says a model expects the analytical choice to take."""
    asked = proposals.context, [proposals.analytical]
    (expected,), (predicted,) = Roofline().predict(*asked), model.predict(*asked)
    return expected / predicted


def decide(proposals: Proposals, rated: Iterable[Rated]) -> Schedule:
    """The best candidate where it is clearly better, else the analytical choice.

    One of the best few that the estimate does not contradict.
    """
    promising = [each for each in rated if each.gain >= MARGIN]
    best = sorted(promising, key=lambda each: -each.gain)[:MOST_DOUBTED]
    with ISL_LOCK:
        longest = CONTRADICTION * estimate(proposals.analytical, proposals.context)
        for each in best:
            if estimate(each.schedule, proposals.context) <= longest:
                return each.schedule
    return proposals.analytical


def _rate(
    proposals: Proposals, model: CostModel, is_covered: Callable[[Schedule], bool], limit: int
) -> list[Rated]:
    original, context = proposals.original, proposals.context
    pool = _Pool(proposals, model, is_covered)
    statements = len(original.scop.statements)
    work = WorkLimit(int(SHARE_OF_PROPOSALS * limit), statements)
    pool.rate([original, *proposals.candidates, *_others(proposals, work)])
    work = WorkLimit(limit - work.spent, statements)
    parents = [each.schedule for each in pool.best()[:PARENTS]]
    pool.rate(
        [
            schedule
            for parent in parents
            for schedule in neighbours(original, parent, context, work.spend)
        ]
    )
    return pool.best()


def _others(proposals: Proposals, work: WorkLimit) -> Iterator[Schedule]:
    """Candidates with another answer for a nest, in the order of the analytical choice.

    A strategy leaves other nests alone, so that its steps can follow all of these.
    """
    answers = proposals.candidates.get(proposals.analytical, ())
    around: tuple[Schedule, Schedule] | None = None
    for answer, behind in other_answers(answers, proposals.context):
        if not work.spend(answer.steps):
            return
        if around is None or around[0] is not answer.before:
            if not work.spend(behind):
                return
            around = answer.before, answer.before.apply_all(behind)
        with suppress(TransformationError):
            yield around[1].apply_all(answer.steps)


class _Pool:
    """The candidates that were rated, each once: schedules with the same loops are the same."""

    def __init__(
        self, proposals: Proposals, model: CostModel, is_covered: Callable[[Schedule], bool]
    ) -> None:
        self._analytical = proposals.analytical
        self._context = proposals.context
        self._model = model
        self._is_covered = is_covered
        self._rated = {schedule_key(self._analytical): Rated(self._analytical, 1.0)}

    def rate(self, schedules: Iterable[Schedule]) -> None:
        """Rates what is new of some schedules, at one go."""
        new: dict[object, Schedule] = {}
        for schedule in filter(self._is_covered, schedules):
            key = schedule_key(schedule)
            if key not in self._rated:
                new.setdefault(key, schedule)
        asked = [self._analytical, *new.values()]
        _, *gains = unanimous_gains(self._model, self._context, asked)
        for (key, schedule), gain in zip(new.items(), gains, strict=True):
            self._rated[key] = Rated(schedule, gain)

    def best(self) -> list[Rated]:
        """All of them, the best first; of equally good ones those that were rated first."""
        return sorted(self._rated.values(), key=lambda each: -each.gain)
