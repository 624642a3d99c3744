"""Strategy: vectors along a loop around short ones, which are unrolled: pixels, taps, phases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ..estimate.estimate import estimate
from ..estimate.local_extents import stored_statistics
from ..estimate.program_statistics import ProgramStatistics, is_scalar
from ..estimate.scheduling_context import SchedulingContext
from ..machine.target import Target
from ..polyhedral.schedule_tree import Loop, Tree, leaves, loops, loops_around, statements
from ..polyhedral.scop import Access, Statement
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.reverse import Reverse
from ..transformations.vectorize import Vectorize
from .held_operands import with_held_operands
from .outermost_parallel import mark_parallel
from .short_loops import short_loops
from .steps import attempt

MOST_COPIES = 32
"""Instances of statements in the body of the vector loop."""


def unrolled_short_loops(
    schedule: Schedule, nest: Tree, context: SchedulingContext
) -> Schedule | None:
    """Unrolls all loops inside of the innermost long ones, and makes these vector loops.

    for x:                                    vector x:
      for c < 3:                      ->        unrolled c:
        B[3 x + c] = f(A[3 x + c])                B[3 x + c] = f(A[3 x + c])

    Elements a small stride apart are accessed together then, as whole pixels: in vectors of several
    registers where the elements that are loaded are shorter, if that is estimated to be better. A
    loop that stores from the last one to the first is reversed.
    """
    statistics = stored_statistics(schedule, context)
    found = short_loops(nest, statistics, MOST_COPIES)
    if found is None:
        return None
    around = {id(loop) for _, loop in found.around}
    # Statements beside the short loops may have longer ones.
    if any(id(inner) in around for _, loop in found.around for inner in loops(loop.body)):
        return None
    try:
        schedule = found.unrolled(schedule)
        for statement, loop in found.around:
            if _stores_backwards(statement, loop, nest, statistics):
                schedule = schedule.apply(Reverse((f"{statement}.{loop.name}",)))
    except TransformationError:
        return None
    marked = dict.fromkeys(
        _with_vectors(schedule, found.around, statistics, widths) for widths in (_narrow, _wide)
    )
    members = statements(nest)
    proposed = [
        mark_parallel(with_held_operands(each, members, context), members, context)
        for each in marked
        if each is not None
    ]
    if len(proposed) < 2:
        return next(iter(proposed), None)
    return min(proposed, key=lambda each: estimate(each, context))


Widths = Callable[[Iterable[Statement], Target], int | None]


def _narrow(members: Iterable[Statement], target: Target) -> int | None:
    """A register of the longest elements that are stored."""
    return min(_lanes((a for each in members for a in each.writes), target), default=None)


def _wide(members: Iterable[Statement], target: Target) -> int | None:
    """A register of the shortest elements: rows of these are shuffled in whole registers."""
    return max(_lanes((a for each in members for a in each.accesses), target), default=None)


def _lanes(accesses: Iterable[Access], target: Target) -> Iterator[int]:
    return (target.lanes(a.array.element_type) for a in accesses if not is_scalar(a.array))


def _with_vectors(
    schedule: Schedule,
    vectors: Iterable[tuple[str, Loop]],
    statistics: ProgramStatistics,
    widths: Widths,
) -> Schedule | None:
    """The loops in vectors, long recurrences as scalars that hand on values in registers.

    None where a loop is neither.
    """
    for statement, loop in vectors:
        members = [statistics.statements[name].statement for name in statements(loop.body)]
        width = widths(members, schedule.target)
        if width is None:
            return None
        marked = attempt(schedule, Vectorize((f"{statement}.{loop.name}",), width))
        if marked is None and not _is_long_recurrence(schedule, statement, loop, statistics):
            return None
        schedule = marked or schedule
    return schedule


def _is_long_recurrence(
    schedule: Schedule, name: str, loop: Loop, statistics: ProgramStatistics
) -> bool:
    outer = loops_around(schedule.tree, name)
    place = next(k for k, each in enumerate(outer) if each.name == loop.name)
    trips = statistics.statements[name].trips(outer)[place]
    return trips > MOST_COPIES and not schedule.is_coincident(outer[place])


def _stores_backwards(name: str, vector: Loop, nest: Tree, statistics: ProgramStatistics) -> bool:
    """Whether all that a loop stores goes backwards along it."""
    outer = next(outer for leaf, outer in leaves(nest) if leaf.statement == name)
    statement = statistics.statements[name]
    direction = statement.direction(outer, vector)
    return direction is not None and all(
        statement.stride(write, direction, statistics) < 0 for write in statement.statement.writes
    )
