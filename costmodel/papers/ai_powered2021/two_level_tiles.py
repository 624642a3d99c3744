"""Random candidates with two levels of tiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain as joined
from math import prod
from random import Random

from ....passes.estimate.estimate import estimate
from ....passes.estimate.scheduling_context import SchedulingContext
from ....passes.polyhedral.schedule_tree import Leaf, Tree, chains, nests
from ....passes.schedules.schedule import Schedule, Transformation
from ....passes.schedules.unrolled_copies import copies
from ....passes.search.space.moves import Move
from ....passes.search.space.registers import inner_vectors, jams, register_tiles, vectors
from ....passes.search.space.trees import certain_names
from ....passes.transformations.interchange import Interchange
from ....passes.transformations.parallel import Parallel
from ....passes.transformations.tile import Tile

MOST_LOOPS = 4
"""So many neighbouring loops of a chain are tiled."""

LARGEST_INNER = 512
"""Values of a loop in an inner tile."""

USUAL = 64
"""The size of inner tiles with which the steps inside of them are chosen."""

SHORTEST = 8
"""Values of a loop in an inner tile, at least."""

INSIDE = (register_tiles, jams, inner_vectors, vectors)
"""Who proposes what to do inside of inner tiles."""

NEAR = 1.02
"""Estimates that differ by less are the same."""

SAME_ORDER = 0.5
"""The part of the candidates that leaves a level of tile loops in the order of the program."""

ATTEMPTS = 4
"""Times as many candidates are tried as asked for, at most: some are illegal, or come twice."""


@dataclass(frozen=True)
class _Band:
    """Loops to tile, outermost first, by certain names; how many iterations each has."""

    names: tuple[str, ...]
    extents: tuple[int, ...]

    def usual(self, schedule: Schedule) -> Schedule | None:
        """The schedule in two levels of usual tiles, in the order as it is; None if illegal."""
        sizes = tuple(min(USUAL, extent) for extent in self.extents)
        order = tuple(range(len(sizes)))
        return _tiled(schedule, self, sizes, sizes, (order, order))


def two_level_tiles(
    schedule: Schedule, nest: int, context: SchedulingContext, count: int, seed: int = 0
) -> Iterator[Schedule]:
    """Up to `count` different legal schedules in which a nest's largest chain is tiled twice.

    for i: for j: S  ->  for it: for jt: for it2: for jt2: (register tile or vectors of i, j: S)

    Inner sizes are powers of two times the register tile, outer ones powers of two times the inner
    ones; both levels come in several orders. What is inside of the inner tiles is chosen once, by
    the estimate of `default`. `nest` is the number of a top-level nest.
    """
    found_band = _band(schedule, nests(schedule.tree)[nest], context)
    if found_band is None:
        return
    band, usual = found_band
    random = Random(seed)
    inside = _inside(usual, nest, context, band)
    least = _least(inside, band)
    seen: set[tuple[object, ...]] = set()
    for _ in range(ATTEMPTS * count):
        inner = tuple(_inner(random, g, e) for g, e in zip(least, band.extents, strict=True))
        outer = tuple(_outer(random, s, e) for s, e in zip(inner, band.extents, strict=True))
        orders = _order(random, len(inner)), _order(random, len(inner))
        if (inner, outer, orders) in seen:
            continue
        seen.add((inner, outer, orders))
        found = _tiled(schedule, band, outer, inner, orders)
        if found is not None and inside.steps:
            found = inside.apply(found)
        found = None if found is None else _shared(found, nest, context)
        if found is not None:
            yield found
            count -= 1
            if not count:
                return


def tiled_depth(schedule: Schedule, context: SchedulingContext) -> int:
    """How many loops around one statement can be tiled together, in the best of all nests."""
    bands = (_band(schedule, part, context) for part in nests(schedule.tree))
    return max((len(found[0].names) for found in bands if found is not None), default=0)


def largest_nests(schedule: Schedule, context: SchedulingContext) -> list[int]:
    """The numbers of the top-level nests that have something to tile, the slowest first."""
    parts = nests(schedule.tree)
    statistics = context.statistics(schedule.scop)
    works = {
        number: sum(
            statistics.statements[leaf.statement].instances
            for members in chains(part)
            if isinstance(leaf := members[-1].body, Leaf)
        )
        for number, part in enumerate(parts)
        if _band(schedule, part, context) is not None
    }
    return sorted(works, key=lambda number: -works[number])


def _band(
    schedule: Schedule, nest: Tree, context: SchedulingContext
) -> tuple[_Band, Schedule] | None:
    """The neighbouring loops with most iterations around one statement that can be tiled twice.

    With the schedule in usual tiles.
    """
    for _, band in sorted(_bands(schedule, nest, context), key=lambda rated: -rated[0]):
        tiled = band.usual(schedule)
        if tiled is not None:
            return band, tiled
    return None


def _bands(
    schedule: Schedule, nest: Tree, context: SchedulingContext
) -> Iterator[tuple[float, _Band]]:
    """All neighbouring loops around one statement, at least two, and how many iterations."""
    statistics = context.statistics(schedule.scop)
    for members in chains(nest):
        leaf = members[-1].body
        if not isinstance(leaf, Leaf) or any(loop.is_marked for loop in members):
            continue
        outer = (*schedule.outer(members[0]), *members)
        trips = statistics.statements[leaf.statement].trips(outer)[-len(members) :]
        for width in range(2, min(MOST_LOOPS, len(members)) + 1):
            for start in range(len(members) - width + 1):
                extents = tuple(max(1, round(trip)) for trip in trips[start : start + width])
                names = certain_names(members[start : start + width])
                yield prod(trips) * prod(extents), _Band(names, extents)


def _tiled(
    schedule: Schedule,
    band: _Band,
    outer: Sequence[int],
    inner: Sequence[int],
    orders: Sequence[Sequence[int]],
) -> Schedule | None:
    result: Schedule | None = schedule
    for sizes, order in zip((outer, inner), orders, strict=True):
        if result is None:
            return None
        members = result.chain(band.names)
        step = Tile(band.names, tuple(sizes)).resolve(result)
        tiles = tuple(
            f"{name.rpartition('.')[0]}.{new}"
            for name, new in zip(band.names, step.new_loops(result), strict=True)
        )
        steps: tuple[Transformation, ...] = (step,)
        if list(order) != sorted(order):
            steps += (Interchange(tuple(tiles[number] for number in order)),)
        assert len(members) == len(sizes)
        result = Move(steps).apply(result)
    return result


def _inside(tiled: Schedule, nest: int, context: SchedulingContext, band: _Band) -> Move:
    """What to do inside of inner tiles: the best of what `INSIDE` proposes, by estimates."""
    part = nests(tiled.tree)[nest]
    rated = [(estimate(tiled, context), 1, Move(()))]
    for move in joined.from_iterable(propose(tiled, part, context) for propose in INSIDE):
        found = move.apply(tiled) if _is_filled(move, band) else None
        if found is not None:
            rated.append((estimate(found, context), copies(nests(found.tree)[nest]), move))
    best = min(seconds for seconds, _, _ in rated)
    # Where memory is the limit, the estimates are equal: then larger blocks wait less.
    near = [(count, move) for seconds, count, move in rated if seconds <= NEAR * best]
    return max(near, key=lambda pair: pair[0])[1]


def _is_filled(move: Move, band: _Band) -> bool:
    """Whether the loops have at least half as many iterations as their register tiles."""
    extents = dict(zip(band.names, band.extents, strict=True))
    return all(
        size < 2 * extents.get(name, size)
        for step in move.steps
        if isinstance(step, Tile)
        for name, size in zip(step.loops, step.constants, strict=True)
    )


def _least(inside: Move, band: _Band) -> tuple[int, ...]:
    """The smallest sizes of inner tiles: those of the register tile."""
    sizes = {n: min(SHORTEST, e) for n, e in zip(band.names, band.extents, strict=True)}
    for step in inside.steps:
        if isinstance(step, Tile):
            sizes.update(zip(step.loops, step.constants, strict=True))
    return tuple(sizes[name] for name in band.names)


def _inner(random: Random, least: int, extent: int) -> int:
    most = max(least, min(extent, LARGEST_INNER))
    return random.choice(_doublings(least, most))


def _outer(random: Random, inner: int, extent: int) -> int:
    return random.choice(_doublings(inner, max(inner, 2 * extent - 1)))


def _doublings(first: int, last: int) -> list[int]:
    sizes = [first]
    while sizes[-1] * 2 <= last:
        sizes.append(sizes[-1] * 2)
    return sizes


def _order(random: Random, count: int) -> tuple[int, ...]:
    order = list(range(count))
    if random.random() > SAME_ORDER:
        random.shuffle(order)
    return tuple(order)


def _shared(schedule: Schedule, nest: int, context: SchedulingContext) -> Schedule | None:
    """The first loop that several threads can share is parallel, where there are threads."""
    if context.threads == 1:
        return schedule
    part = nests(schedule.tree)[nest]
    for members in chains(part):
        for loop in members[:MOST_LOOPS]:
            found = Move((Parallel(certain_names([loop])),)).apply(schedule)
            if found is not None:
                return found
    return schedule
