"""Strategy: vectors along recurrences that reach back over more elements than these have."""

from __future__ import annotations

from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Tree, leaves, loops, statements
from ..schedules.schedule import Schedule
from ..transformations.strip_mine import StripMine
from ..transformations.vectorize import Vectorize
from .outermost_parallel import mark_parallel
from .steps import attempt


def distant_recurrences(
    schedule: Schedule, nest: Tree, context: SchedulingContext
) -> Schedule | None:
    """Strips of a vector, in which the iterations of a recurrence are independent.

    for i:                          for strips of 16 i:
      y[i] = f(y[i - 113])    ->      vector i in strip: y[i] = f(y[i - 113])

    Delay lines, combs, seasonal models, lagged generators.
    """
    if any(loop.is_marked or loop.within is not None for loop in loops(nest)):
        return None
    statistics = context.statistics(schedule.scop).statements
    result, seen, is_changed = schedule, set[int](), False
    for leaf, around in leaves(nest):
        if not around or id(around[-1]) in seen:
            continue
        innermost, statement = around[-1], statistics[leaf.statement]
        seen.add(id(innermost))
        kinds = [write.array.element_type for write in statement.statement.writes]
        width = min(map(schedule.target.lanes, kinds), default=1)
        name = f"{leaf.statement}.{innermost.name}"
        is_short = statement.trips(around)[-1] <= width
        if width == 1 or is_short or statement.rewrites(around, innermost):
            continue
        is_distant = not schedule.is_lockstep(innermost)
        strips = attempt(result, StripMine((name,), width)) if is_distant else result
        marked = None if strips is None else attempt(strips, Vectorize((name,), width))
        if marked is not None:
            result = marked
            is_changed |= is_distant
    return mark_parallel(result, statements(nest), context) if is_changed else None
