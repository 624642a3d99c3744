"""As written, the outermost legal loops parallel: LLVM unrolls and vectorises what is inside."""

from __future__ import annotations

from ..estimate.local_extents import stored_statistics
from ..estimate.parallel_profitability import LEAST_INSTANCES
from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Tree, loops_around, statements
from ..schedules.schedule import Schedule
from ..transformations.parallel import Parallel
from .steps import attempt


def outermost_parallel(
    schedule: Schedule, nest: Tree, context: SchedulingContext
) -> Schedule | None:
    """Marks the outermost loops that can run in parallel; None where there are none.

    for i: for j: for k: S      ->      parallel i: for j: for k: S
    """
    marked = mark_parallel(schedule, statements(nest), context, 0)
    return None if marked is schedule else marked


def mark_parallel(
    schedule: Schedule,
    members: tuple[str, ...],
    context: SchedulingContext,
    least_instances: int = LEAST_INSTANCES,
) -> Schedule:
    """Marks the outermost loops, with enough work in one execution, that can run in parallel."""
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
            instances = sum(statistics.statements[other].work for other in loop.schedule)
            is_long = trips > 1 and (loop.vector is None or trips >= 4 * loop.vector)
            if is_long and instances / executions >= least_instances:
                marked = attempt(schedule, Parallel((f"{name}.{loop.name}",)))
                if marked is not None:
                    schedule = marked
                    done |= set(loop.schedule)
                    break
            executions *= trips
    return schedule
