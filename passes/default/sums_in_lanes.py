"""Strategy: partial results for lanes, of reductions over short rows of several."""

from __future__ import annotations

from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Loop, Tree, leaves, loops, nest_of, statements
from ..schedules.schedule import Schedule
from ..transformations.rfactor import Rfactor
from .outermost_parallel import mark_parallel
from .steps import attempt

MOST_VECTORS = 4
"""Vectors of partial results: they stay in registers."""


def sums_in_lanes(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Schedule | None:
    """Accumulates the elements of short rows apart, and adds them up behind all rows.

    LLVM, which makes the vectors, would add up the lanes of each row.

    for i:                              for i:
      for p:                              for p: for c < 16: P[c] += A[p, i, c]
        for c < 16:               ->      for c < 16: s[i] += P[c]
          s[i] += A[p, i, c]
    """
    if any(loop.is_marked for loop in loops(nest)):
        return None
    result = schedule
    for leaf, outer in leaves(nest):
        if _adds_short_rows(schedule, leaf.statement, outer, context):
            step = Rfactor((f"{leaf.statement}.{outer[-1].name}",))
            result = attempt(result, step) or result
    if result is schedule:
        return None
    nest = nest_of(result.tree, statements(nest)[0])
    return mark_parallel(result, statements(nest), context)


def _adds_short_rows(
    schedule: Schedule, name: str, outer: tuple[Loop, ...], context: SchedulingContext
) -> bool:
    """Whether a statement adds up rows of a few whole vectors, more than one into each element."""
    if name not in schedule.dependences.accumulations or len(outer) < 2:
        return False
    statistics = context.statistics(schedule.scop)
    statement = statistics.statements[name]
    direction = statement.direction(outer, outer[-1])
    if direction is None or not all(statement.rewrites(outer, loop) for loop in outer[-2:]):
        return False
    lanes = min(
        schedule.target.lanes(each.array.element_type) for each in statement.statement.writes
    )
    length = statement.trips(outer)[-1]
    strides = [statement.stride(read, direction, statistics) for read in statement.statement.reads]
    return 1 in strides and length % lanes == 0 and length <= MOST_VECTORS * lanes
