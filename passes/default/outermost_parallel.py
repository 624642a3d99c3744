"""Parallelisation of the outermost loops that are worth it."""

from __future__ import annotations

from ..estimate.local_extents import stored_statistics
from ..estimate.parallel_profitability import LEAST_INSTANCES
from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import loops_around
from ..schedules.schedule import Schedule
from ..transformations.parallel import Parallel
from .steps import attempt


def outermost_parallel(
    schedule: Schedule, members: tuple[str, ...], context: SchedulingContext
) -> Schedule:
    """Marks the outermost loops around statements that can run in parallel and have enough work.

    for i: for j: S      ->      parallel i: for j: S
    """
    if context.threads == 1:
        return schedule
    statistics = stored_statistics(schedule, context)
    done: set[str] = set()
    for name in members:
        if name in done:
            continue
        outer = loops_around(schedule.tree, name)
        statement = statistics.statements[name]
        executions = 1.0
        for loop, trips in zip(outer, statement.trips(outer), strict=True):
            if trips > 1 and (loop.vector is None or trips >= 4 * loop.vector):
                work = (
                    sum(statistics.statements[other].instances for other in loop.schedule)
                    / executions
                )
                marked = (
                    attempt(schedule, Parallel((f"{name}.{loop.name}",)))
                    if work >= LEAST_INSTANCES
                    else None
                )
                if marked is not None:
                    schedule = marked
                    done |= set(loop.schedule)
                    break
            executions *= trips
    return schedule
