"""Orders of a program in which loop-invariant recurrences are computed once, in front of it.

The coefficients of a sweep over lines often are the same for all lines, and in all time steps
(alternating directions, tridiagonal systems): each line then does without the recurrence, and
without a buffer for what it leaves.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.dependences import DependenceKind
from ..polyhedral.schedule_tree import loops_around
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.hoist import Hoist, invariant
from .steps import attempt

TIMES = 16
"""As many times a recurrence must be computed to be worth arrays and copies."""

SHARE = 0.02
"""The part of all work that it must be: the proof takes as long as the rest of scheduling."""


def with_hoisted_recurrences(schedule: Schedule, context: SchedulingContext) -> Schedule | None:
    """The program with invariant recurrences in front of it; None if there are none.

    for i: for j: p[i, j] = f(p[i, j - 1])             for j: P[j] = f(P[j - 1])
                  q[i, j] = g(q[i, j - 1], p[i, j])  ->  for i: for j: q[i, j] = g(..., P[j])
    """
    result = schedule
    for name in _recurrences(schedule):
        if name in {each.name for each in result.scop.statements} and _is_profitable(
            result, name, context
        ):
            result = attempt(result, Hoist(statements=(name,))) or result
    return None if result is schedule else result


def _recurrences(schedule: Schedule) -> Iterator[str]:
    """The statements that need what they have computed themselves."""
    flows = {
        (dependence.source, dependence.target)
        for dependence in schedule.dependences
        if dependence.kind is DependenceKind.FLOW
    }
    for statement in schedule.scop.statements:
        waiting = [target for source, target in flows if source == statement.name]
        reached = set[str]()
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting += (target for source, target in flows if source == name)
        if statement.name in reached:
            yield statement.name


def _is_profitable(schedule: Schedule, name: str, context: SchedulingContext) -> bool:
    """Whether a recurrence is computed often, and is a part of the work that counts."""
    statistics = context.statistics(schedule.scop)
    statement = statistics.statements[name]
    if statement.work < SHARE * sum(each.work for each in statistics.statements.values()):
        return False  # Of long bodies, none is: what is invariant takes the square of their length.
    try:
        found = invariant(schedule, name)
    except TransformationError:
        return False
    around = loops_around(schedule.tree, name)
    times = 1.0
    for position, trips in enumerate(statement.trips(around)):
        if position not in found.kept[name]:
            times *= trips
    return times >= TIMES
