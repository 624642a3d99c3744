"""Strategy: nests whose accesses are contiguous along different loops: transposed, interleaved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from ..estimate.access_costs import LARGEST_STRIDE
from ..estimate.local_extents import stored_statistics
from ..estimate.program_statistics import ProgramStatistics
from ..estimate.scheduling_context import SchedulingContext
from ..estimate.vector_loops import narrowed
from ..polyhedral.schedule_tree import Leaf, Loop, Tree, chain, statements
from ..polyhedral.scop import AccessKind
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.unroll import Unroll
from ..transformations.vectorize import Vectorize
from .outermost_parallel import outermost_parallel
from .steps import Steps

MOST_LANES = 16
"""Rows of a block that is transposed in registers."""


def tile_transposition(
    schedule: Schedule, nest: Tree, context: SchedulingContext
) -> Schedule | None:
    """Vectors along one loop, with as many iterations of another as there are lanes, unrolled.

    Reads that are contiguous along the other loop become loads of rows, transposed in registers;
    accesses a small stride apart become whole rows and shuffles.

    for i:                             for it:
      for j:                             for jt:
        B[j, i] = A[i, j]      ->          vector i in [64 it, 64 it + 64):
                                             unrolled j in [8 jt, 8 jt + 8):
                                               B[j, i] = A[i, j]

    for d < 2: for x:                  vector x: unrolled d:
      B[2 x + d] = A[d, x]     ->        B[2 x + d] = A[d, x]
    """
    if not isinstance(nest, Loop):
        return None
    loops = chain(nest)
    inside = loops[-1].body
    if len(loops) < 2 or any(not isinstance(c, Leaf) for c in _children(inside)):
        return None
    if any(loop.vector or loop.unroll is not None or loop.parallel for loop in loops):
        return None
    statistics = stored_statistics(schedule, context)
    for vector, unrolled in _pairs(schedule, loops, statistics):
        try:
            result = _tiled(schedule, loops, vector, unrolled, statistics)
        except TransformationError:
            continue
        return outermost_parallel(result, statements(nest), context)
    return None


def _children(tree: Tree) -> Sequence[Tree]:
    return (tree,) if isinstance(tree, Leaf | Loop) else tree.children


def _pairs(
    schedule: Schedule, loops: tuple[Loop, ...], statistics: ProgramStatistics
) -> Iterator[tuple[Loop, Loop]]:
    """Loops for vectors and for unrolling inside that suit all accesses, long vectors first."""
    trips = _trips(loops, statistics)
    lanes = _lanes(schedule, loops)
    suitable = [
        pair
        for pair in permutations(loops, 2)
        if _suits(loops, pair, trips[pair[1].name], statistics)
    ]
    yield from sorted(
        suitable, key=lambda pair: (-min(trips[pair[0].name], lanes), -trips[pair[1].name])
    )


def _suits(
    loops: tuple[Loop, ...], pair: tuple[Loop, Loop], trips: float, statistics: ProgramStatistics
) -> bool:
    """Whether all accesses are vectors, rows or shuffled ones, and not all of them vectors."""
    is_joined = False
    for name in loops[0].schedule:
        statement = statistics.statements[name]
        directions = [statement.direction(loops, loop) for loop in pair]
        for access in statement.statement.accesses:
            across, along = (
                0 if each is None else abs(statement.stride(access, each, statistics))
                for each in directions
            )
            is_write = access.kind is AccessKind.WRITE
            if is_write and not (across and along):
                return False
            if across <= 1:
                continue
            is_shuffled = across == trips <= LARGEST_STRIDE
            is_row = across > LARGEST_STRIDE and not is_write
            if along != 1 or not (is_shuffled or is_row):
                return False
            is_joined = True
    return is_joined


def _tiled(
    schedule: Schedule,
    loops: tuple[Loop, ...],
    vector: Loop,
    unrolled: Loop,
    statistics: ProgramStatistics,
) -> Schedule:
    """Tiles as tall as a cache keeps their rows, as wide as a block that is transposed."""
    trips = _trips(loops, statistics)
    target = schedule.target
    lanes = narrowed(_lanes(schedule, loops), trips[vector.name])
    lines = min(target.tlb_entries, target.caches.get(1, 0) // (2 * target.cache_line))
    height, width = max(lanes, lines // lanes * lanes), lanes
    steps = Steps(schedule, statements(loops[0])[0])
    others = [loop.name for loop in loops if loop is not vector and loop is not unrolled]
    steps.interchange([*others, vector.name, unrolled.name])
    if trips[vector.name] > height and trips[unrolled.name] > width:
        steps.make_tiles([vector.name, unrolled.name], [height, width])
    elif trips[unrolled.name] > width:
        tiles = steps.make_tiles([unrolled.name], [width])
        steps.interchange([*tiles, vector.name, unrolled.name])
    steps.step(Unroll((steps.name(unrolled.name),)))
    steps.step(Vectorize((steps.name(vector.name),), lanes))
    return steps.schedule


def _trips(loops: tuple[Loop, ...], statistics: ProgramStatistics) -> dict[str, float]:
    """The average number of iterations of each loop, by its name."""
    counts = statistics.statements[statements(loops[0])[0]].trips(loops)
    return {loop.name: count for loop, count in zip(loops, counts, strict=True)}


def _lanes(schedule: Schedule, loops: tuple[Loop, ...]) -> int:
    """Lanes of the widest elements that are accessed, at most as many as are transposed."""
    return min(
        MOST_LANES,
        *(
            schedule.target.lanes(access.array.element_type)
            for statement in schedule.scop.statements
            if statement.name in loops[0].schedule
            for access in statement.accesses
        ),
    )
