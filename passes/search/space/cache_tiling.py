"""Cache-tiling and packing moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from ...estimate.footprints import footprint
from ...estimate.program_statistics import ProgramStatistics, StatementStatistics, bytes_of
from ...estimate.scheduling_context import SchedulingContext
from ...polyhedral.schedule_tree import Loop, Tree, chains, loops, statements
from ...polyhedral.scop import Access, AccessKind
from ...schedules.schedule import Schedule
from ...transformations.pack import Pack
from ...transformations.tile import Tile
from .moves import Move, one
from .trees import certain_names

SIZES = {
    1: ((16,), (32,), (64,), (128,), (256,)),
    2: (*product((32, 64, 128), repeat=2), (8, 64), (8, 256), (16, 512)),
    3: ((32, 32, 32), (64, 64, 64), (128, 128, 128), (32, 32, 128), (64, 256, 64)),
}
"""Tile sizes by the number of loops: LOOPer's 32, 64, 128, and flat ones for long rows.

Others come up as neighbours of these.
"""

REUSES = 3
"""What is copied is used more often than this on average."""

MOST_LOOPS = max(SIZES)


def tiles(schedule: Schedule, part: Tree, context: SchedulingContext) -> Iterator[Move]:
    """Up to three neighbouring loops of a chain are tiled, in one chain or in all of them alike."""
    found = [plain for members in chains(part) if (plain := _plain(members))]
    for members in found:
        for count in range(min(MOST_LOOPS, len(members)), 0, -1):
            for start in range(len(members) - count + 1):
                names = certain_names(members[start : start + count])
                yield from (one(Tile(names, sizes)) for sizes in SIZES[count])
    if len(found) > 1:
        yield from _everywhere(found)


def _everywhere(found: Sequence[Sequence[Loop]]) -> Iterator[Move]:
    count = min(MOST_LOOPS, *(len(members) for members in found))
    for sizes in SIZES[count]:
        for start in (slice(0, count), slice(-count, None)):
            steps = tuple(Tile(certain_names(list(each[start])), sizes) for each in found)
            yield Move(steps, partial=True)


def _plain(members: Sequence[Loop]) -> tuple[Loop, ...]:
    """The innermost loops of a chain that have no marks."""
    plain: list[Loop] = []
    for loop in reversed(members):
        if loop.is_marked:
            break
        plain.append(loop)
    return tuple(reversed(plain))


def packs(schedule: Schedule, part: Tree, context: SchedulingContext) -> Iterator[Move]:
    """What one iteration of a tile loop uses of an array is copied, a matrix also transposed.

    Only what is used several times: a copy costs more than a use. Arrays that the nest writes are
    left out: there, copies seldom pay.
    """
    statistics = context.statistics(schedule.scop)
    tiled = {loop.within.tile for loop in loops(part) if loop.within is not None}
    written = {a.array.name for _, a in _accesses(statistics, part) if a.kind is AccessKind.WRITE}
    for loop in loops(part):
        if loop.name not in tiled:
            continue
        outer = (*schedule.outer(loop), loop)
        ranks: dict[str, int] = {}
        for statement, access in _accesses(statistics, loop):
            array = access.array
            spans = statement.spans_inside(outer, statement.own_iterators(access))
            bytes_touched = footprint(statistics, [(access, spans)], schedule.target.cache_line)
            touched = bytes_touched[array.name] / bytes_of(array.element_type)
            if array.name not in written and not array.is_local and prod(spans) > REUSES * touched:
                ranks[array.name] = len(array.shape)
        for name, rank in sorted(ranks.items()):
            names = certain_names([loop])
            yield one(Pack(names, array=name))
            if rank > 1:
                yield one(Pack(names, array=name, order=tuple(reversed(range(rank)))))


def _accesses(
    statistics: ProgramStatistics, part: Tree
) -> Iterator[tuple[StatementStatistics, Access]]:
    for name in statements(part):
        statement = statistics.statements[name]
        yield from ((statement, access) for access in statement.statement.accesses)
