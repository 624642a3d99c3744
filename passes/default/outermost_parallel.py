"""As written, the outermost legal loops parallel: LLVM unrolls and vectorises what is inside."""

from __future__ import annotations

from math import ceil

from ..estimate.local_extents import stored_statistics
from ..estimate.parallel_profitability import LEAST_INSTANCES
from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Loop, Tree, loops_around, statements
from ..schedules.schedule import Schedule
from ..transformations.parallel import Parallel
from .steps import attempt

ENOUGH_VECTORS = 4
"""Iterations of a vector loop from which on it may be shared out, if there is one for a thread."""

EVEN = 0.9
"""The share of threads that work, on average, from which on no loop further in is looked for."""


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
    """Marks the outermost loops, with enough work in one execution, that can run in parallel.

    Of loops with few iterations, as the three planes of an image, the next one that shares its work
    more evenly.
    """
    if context.threads == 1:
        return schedule
    statistics = stored_statistics(schedule, context)
    vectors = min(context.threads, ENOUGH_VECTORS)
    done: set[str] = set()
    for name in members:
        if name in done:
            continue
        outer = loops_around(schedule.tree, name)
        statement = statistics.statements[name]
        executions, least = 1.0, least_instances
        best: tuple[Schedule, Loop, float] | None = None
        for loop, trips in zip(outer, statement.trips(outer), strict=True):
            instances = sum(statistics.statements[other].work for other in loop.schedule)
            is_long = trips > 1 and (loop.vector is None or trips >= vectors * loop.vector)
            if best is not None and len(loop.schedule) < len(best[1].schedule):
                break
            if is_long and instances / executions >= least:
                busy = trips / (ceil(trips / context.threads) * context.threads)
                is_better = best is None or busy > best[2]
                step = Parallel((f"{name}.{loop.name}",))
                # A step that is refused looks for the reason.
                is_legal = is_better and schedule.is_coincident(loop)
                marked = attempt(schedule, step) if is_legal else None
                if marked is not None:
                    best, least = (marked, loop, busy), LEAST_INSTANCES
                    if busy >= EVEN:
                        break
            executions *= trips
        if best is not None:
            schedule, shared, _ = best
            done |= set(shared.schedule)
    return schedule
