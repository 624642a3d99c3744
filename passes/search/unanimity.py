"""Unanimity filter of the ensemble: schedules that every member predicts to beat the default.

A search picks out errors in one direction: among thousands of schedules, what a model likes best is
often what it is most wrong about. Members that have learned by themselves are wrong elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.isl_context import ISL_LOCK
from ..schedules.schedule import Schedule
from .protocols import Committee, CostModel
from .search_state import SearchState

ASKED = 64
"""So many of the best by the model are asked about again, with all members of a committee."""


def unanimous_choice(state: SearchState, default: Schedule, gain: float) -> Schedule:
    """The schedule that is surest to be faster than the default one.

    The default schedule, unless every member of the model takes another one for more than `gain`
    times as fast.
    """
    task = state.task
    asked = [default, *state.ranked()[:ASKED]]
    with ISL_LOCK:
        gains = unanimous_gains(task.model, task.context, asked)
    most, best = max(zip(gains, asked, strict=True), key=lambda pair: pair[0])
    return best if most > gain else default


def unanimous_gains(
    model: CostModel, context: SchedulingContext, schedules: Sequence[Schedule]
) -> list[float]:
    """How much faster than the first one each schedule is, as the least convinced member says."""
    opinions = [model.predict(context, schedules)]
    if isinstance(model, Committee):
        opinions += model.opinions(context, schedules)
    return [min(each[number] / each[0] for each in opinions) for number in range(len(schedules))]
