"""Strategy: vectors along a loop around short ones, which are unrolled: pixels, taps, phases."""

from __future__ import annotations

from math import prod

from ..estimate.local_extents import stored_statistics
from ..estimate.program_statistics import ProgramStatistics, is_scalar
from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Loop, Tree, leaves, loops, statements
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.reverse import Reverse
from ..transformations.unroll import Unroll
from ..transformations.vectorize import Vectorize
from .outermost_parallel import mark_parallel

LONGEST = 8
"""Iterations of a loop that is unrolled fully."""

MOST_COPIES = 32
"""Instances of statements in the body of the vector loop."""


def unrolled_short_loops(
    schedule: Schedule, nest: Tree, context: SchedulingContext
) -> Schedule | None:
    """Unrolls all loops inside of the innermost long ones, and makes these vector loops.

    for x:                                    vector x:
      for c < 3:                      ->        unrolled c:
        B[3 x + c] = f(A[3 x + c])                B[3 x + c] = f(A[3 x + c])

    Elements a small stride apart are accessed together then, as whole pixels. A loop that stores
    from the last one to the first is reversed.
    """
    statistics = stored_statistics(schedule, context)
    short: dict[int, tuple[str, Loop]] = {}
    vectors: dict[int, tuple[str, Loop]] = {}
    for leaf, outer in leaves(nest):
        trips = statistics.statements[leaf.statement].trips(outer)
        depth = len(outer)
        while depth and trips[depth - 1] <= LONGEST and prod(trips[depth - 1 :]) <= MOST_COPIES:
            depth -= 1
        if not depth:
            return None
        short |= {id(loop): (leaf.statement, loop) for loop in outer[depth:]}
        vectors[id(outer[depth - 1])] = (leaf.statement, outer[depth - 1])
    if not short or short.keys() & vectors.keys():
        return None
    if any(loop.is_marked for loop in loops(nest)):
        return None
    # Statements beside the short loops may have longer ones.
    if any(id(inner) in vectors for _, loop in vectors.values() for inner in loops(loop.body)):
        return None
    try:
        for statement, loop in short.values():
            schedule = schedule.apply(Unroll((f"{statement}.{loop.name}",)))
        for statement, loop in vectors.values():
            kinds = (
                write.array.element_type
                for name in statements(loop.body)
                for write in statistics.statements[name].statement.writes
                if not is_scalar(write.array)
            )
            width = min(map(schedule.target.lanes, kinds), default=None)
            if width is None:
                return None
            if _stores_backwards(statement, loop, nest, statistics):
                schedule = schedule.apply(Reverse((f"{statement}.{loop.name}",)))
            schedule = schedule.apply(Vectorize((f"{statement}.{loop.name}",), width))
    except TransformationError:
        return None
    return mark_parallel(schedule, statements(nest), context)


def _stores_backwards(name: str, vector: Loop, nest: Tree, statistics: ProgramStatistics) -> bool:
    """Whether all that a loop stores goes backwards along it."""
    outer = next(outer for leaf, outer in leaves(nest) if leaf.statement == name)
    statement = statistics.statements[name]
    direction = statement.direction(outer, vector)
    return direction is not None and all(
        statement.stride(write, direction, statistics) < 0 for write in statement.statement.writes
    )
