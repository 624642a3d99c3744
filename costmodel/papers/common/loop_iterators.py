"""Which iterator of a statement each loop around it runs over."""

from __future__ import annotations

from collections.abc import Sequence

from ....passes.estimate.program_statistics import StatementStatistics
from ....passes.polyhedral.schedule_tree import Loop, Tree, loops


def tile_loops(tree: Tree) -> set[str]:
    """The names of the loops in a tree that run over the tiles of others."""
    return {loop.within.tile for loop in loops(tree) if loop.within is not None}


def iterators(statistics: StatementStatistics, around: Sequence[Loop]) -> list[int | None]:
    """The position of the iterator that each loop (outermost first) runs over.

    A loop has the iterator of its name, else the innermost one that it depends on and that no loop
    further out has; a tile loop has that of its point loop. None where nothing is left.
    """
    result: list[int | None] = [None] * len(around)
    tiles = {loop.within.tile for loop in around if loop.within is not None}
    taken: set[int] = set()
    names = statistics.statement.loops
    rest: list[int] = []
    for place, loop in enumerate(around):
        if loop.name in tiles:
            continue
        own = names.index(loop.name) if loop.name in names else None
        if own is not None and own not in taken and statistics.slopes(loop)[own]:
            result[place] = own
            taken.add(own)
        else:
            rest.append(place)
    for place in rest:
        slopes = statistics.slopes(around[place])
        if any(slope.denominator > 1 for slope in slopes):
            continue
        free = [d for d, slope in enumerate(slopes) if slope and d not in taken]
        if free:
            result[place] = free[-1]
            taken.add(free[-1])
    return [
        found if found is not None else _of_tiles(statistics, around, result, place)
        for place, found in enumerate(result)
    ]


def _of_tiles(
    statistics: StatementStatistics, around: Sequence[Loop], found: Sequence[int | None], place: int
) -> int | None:
    """The iterator of a tile loop: that of its point loop, else what it depends on most."""
    tile = around[place].name
    inside = range(place + 1, len(around))
    for inner in inside:
        within = around[inner].within
        if within is not None and within.tile == tile:
            known = found[inner]
            return known if known is not None else _of_tiles(statistics, around, found, inner)
    slopes = [abs(slope) for slope in statistics.slopes(around[place])]
    return slopes.index(max(slopes)) if slopes and max(slopes) else None
