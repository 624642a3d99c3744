"""Strategy: outer-loop vectorisation with short sums inside unrolled: blocks, small products."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ..estimate.estimate import estimate
from ..estimate.local_extents import stored_statistics
from ..estimate.loops_around import has_conditions
from ..estimate.program_statistics import ProgramStatistics
from ..estimate.scheduling_context import SchedulingContext
from ..estimate.vector_widths import narrowed
from ..polyhedral.schedule_tree import Loop, Tree, leaves, loops, loops_around, statements
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.unroll import Unroll
from ..transformations.vectorize import Vectorize
from .outer_vectors import FEWEST_TRIPS, lanes_of
from .outermost_parallel import mark_parallel

LONGEST = 32
"""Iterations of a loop that is unrolled."""

REGISTERS = 2
"""Vectors that the iterations of two loops fill together where LLVM packs them by itself."""

MOST_COPIES = 64
"""Copies of a statement in the body of a vector loop."""


def unrolled_sums(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Schedule | None:
    """Makes vectors of loops that may run in lanes, and unrolls short sums inside.

    for i:                                    parallel i:
      for j:                                    vector j:
        s = 0                           ->        s = 0
        for k < 8: s += A[i, 8 j + k]             unrolled k: s += A[i, 8 j + k]
        B[i, j] = s                               B[i, j] = s

    Lanes that walk along rows of their own load these as they lie in memory, and transpose them in
    registers. Of the innermost such loops and those around, what is estimated to be best.
    """
    if any(loop.is_marked for loop in loops(nest)):
        return None
    statistics = stored_statistics(schedule, context)
    answers = [_scheduled(schedule, nest, level, statistics) for level in range(2)]
    possible = [answer for answer in answers if answer is not None]
    best = min(possible, key=lambda answer: estimate(answer, context), default=None)
    return None if best is None else mark_parallel(best, statements(nest), context)


def _scheduled(
    schedule: Schedule, nest: Tree, level: int, statistics: ProgramStatistics
) -> Schedule | None:
    """The loops so many levels around the innermost possible ones in vectors."""
    vectors: list[tuple[str, Loop]] = []
    for leaf, outer in leaves(nest):
        if any(loop is other for loop in outer for _, other in vectors):
            continue
        found = list(_possible(schedule, outer, statistics))
        if not found:
            return None
        vectors.append((leaf.statement, found[min(level, len(found) - 1)]))
    if not any(any(loops(loop.body)) for _, loop in vectors):
        return None
    try:
        for statement, loop in vectors:
            trips = _trips(schedule, statement, statistics)[loop.name]
            width = narrowed(lanes_of(schedule, loop, statistics), trips)
            schedule = schedule.apply(Vectorize((f"{statement}.{loop.name}",), width))
            for name in statements(loop.body):
                for inside in _inside(loop, loops_around(schedule.tree, name)):
                    if inside.unroll is None:
                        schedule = schedule.apply(Unroll((f"{name}.{inside.name}",)))
    except TransformationError:
        return None
    return schedule


def _possible(
    schedule: Schedule, outer: tuple[Loop, ...], statistics: ProgramStatistics
) -> Iterator[Loop]:
    """Loops that may run in lanes, the innermost one first, with short sums inside."""
    found: list[float] = []
    for loop in reversed(outer):
        names = statements(loop.body)
        if not all(_is_short_sum(schedule, loop, name, statistics) for name in names):
            return
        trips = _trips(schedule, names[0], statistics)[loop.name]
        if trips >= FEWEST_TRIPS and schedule.is_coincident(loop):
            if found and trips * found[-1] <= REGISTERS * lanes_of(schedule, loop, statistics):
                return
            found.append(trips)
            yield loop


def _is_short_sum(
    schedule: Schedule, vector: Loop, name: str, statistics: ProgramStatistics
) -> bool:
    """Whether the loops inside have few iterations, the same in each lane, or a sum's terms."""
    outer = loops_around(schedule.tree, name)
    inside = _inside(vector, outer)
    if not inside:
        return True
    if has_conditions(statistics.statements[name], outer, vector):
        return False
    trips = _trips(schedule, name, statistics)
    lengths = [trips[loop.name] for loop in inside]
    is_sum = name in schedule.dependences.accumulations
    return (
        max(lengths) <= LONGEST
        and prod(lengths) <= MOST_COPIES
        and (is_sum or all(map(schedule.is_coincident, inside)))
    )


def _inside(vector: Loop, outer: tuple[Loop, ...]) -> list[Loop]:
    """The loops around a statement inside of one of them."""
    return list(outer[1 + [loop.name for loop in outer].index(vector.name) :])


def _trips(schedule: Schedule, name: str, statistics: ProgramStatistics) -> dict[str, float]:
    """The iterations of the loops around a statement."""
    outer = loops_around(schedule.tree, name)
    trips = statistics.statements[name].trips(outer)
    return {loop.name: count for loop, count in zip(outer, trips, strict=True)}
