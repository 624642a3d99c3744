"""Tilings with run-time sizes, as the space of tile-size tuning."""

from __future__ import annotations

from collections.abc import Iterator

from ...default.default_schedule import orders
from ...default.steps import attempt
from ...estimate.scheduling_context import SchedulingContext
from ...polyhedral.descriptions import describe_tree
from ...polyhedral.isl_context import ISL_LOCK
from ...polyhedral.schedule_tree import Loop, chain, leaves, loops_around
from ...schedules.schedule import Schedule
from ...transformations.distribute import Distribute
from ...transformations.interchange import Interchange
from ...transformations.parallel import Parallel
from ...transformations.tile import Tile
from ...transformations.vectorize import Vectorize

MOST = 3
"""Loops that are tiled."""


def run_time_tilings(original: Schedule, context: SchedulingContext) -> Iterator[Schedule]:
    """The deepest bands of the program in tiles of run-time sizes, each of their loops innermost.

    They have the same sizes: several products, or the two halves of a step in time.

    In every order of the whole program: its own, and those of affine scheduling. The innermost
    point loop runs in vectors where it may, the outermost tile loop on threads.
    """
    with ISL_LOCK:
        found: dict[str, Schedule] = {}
        for order in orders(original, context):
            for tiling in _tilings(order, context):
                # Several orders may have this one in common.
                found.setdefault(describe_tree(tiling.scop, tiling.tree), tiling)
    yield from found.values()


def _tilings(order: Schedule, context: SchedulingContext) -> Iterator[Schedule]:
    depths = {leaf.statement: len(outer) for leaf, outer in leaves(order.tree)}
    depth = max(depths.values(), default=0)
    if not depth:
        return
    first, *others = (name for name, own in depths.items() if own == depth)
    schedule = order
    for name in (first, *others):
        schedule = _perfect(schedule, name)
    for place in range(len(_band(schedule, first))):
        tiling = _tiling(schedule, first, place, context)
        if tiling is None:
            continue
        sizes = tiling.run_time_sizes
        for other in others:
            if not _is_tiled(tiling, other):
                tiling = _tiling(tiling, other, place, context, sizes) or tiling
        yield tiling


def _tiling(
    schedule: Schedule,
    statement: str,
    place: int,
    context: SchedulingContext,
    sizes: tuple[str, ...] | None = None,
) -> Schedule | None:
    """The band around a statement in tiles, its loop at `place` innermost; None where it cannot be.

    The sizes have these names; new ones where they are not given.
    """
    members = _band(schedule, statement)
    last = members[min(place, len(members) - 1)]
    rest = [loop for loop in members if loop is not last]
    names = tuple(f"{statement}.{loop.name}" for loop in (*rest, last))
    arranged: Schedule | None = schedule
    if last is not members[-1]:
        arranged = attempt(schedule, Interchange(names))
    tiled = arranged and _tile(arranged, names[-MOST:], sizes)
    if tiled is None:
        return None
    if context.threads > 1:
        tiled = attempt(tiled, Parallel((f"{statement}.{_tile_name(tiled, statement)}",))) or tiled
    return attempt(tiled, Vectorize((names[-1],))) or tiled


def _is_tiled(schedule: Schedule, statement: str) -> bool:
    around = loops_around(schedule.tree, statement)
    return any(loop.run_time_size is not None for loop in around)


def _perfect(schedule: Schedule, statement: str) -> Schedule:
    """The schedule with the loops around a statement distributed as far as that is legal."""
    count = len(loops_around(schedule.tree, statement))
    for depth in range(1, count):
        around = loops_around(schedule.tree, statement)
        if len(chain(around[depth - 1])) > 1:
            continue
        names = tuple(f"{statement}.{loop.name}" for loop in around[:depth])
        for first in range(depth):
            distributed = attempt(schedule, Distribute(names[first:]))
            if distributed is not None:
                schedule = distributed
                break
    return schedule


def _band(schedule: Schedule, statement: str) -> tuple[Loop, ...]:
    """The innermost loops around a statement that are directly inside each other."""
    around = loops_around(schedule.tree, statement)
    start = next(loop for loop in around if chain(loop)[-1] is around[-1])
    return chain(start)


def _tile(
    schedule: Schedule, names: tuple[str, ...], sizes: tuple[str, ...] | None
) -> Schedule | None:
    """The last loops in tiles of these sizes, or of new ones; as many loops as may be."""
    for first in range(len(names)):
        tiles = names[first:]
        wanted = _new_sizes(schedule, tiles) if sizes is None else sizes[-len(tiles) :]
        tiled = attempt(schedule, Tile(tiles, wanted)) if len(wanted) == len(tiles) else None
        if tiled is not None:
            return tiled
    return None


def _new_sizes(schedule: Schedule, names: tuple[str, ...]) -> tuple[str, ...]:
    arguments = {value.name_hint for value in schedule.program.func.body.block.args}
    taken = arguments | {parameter.name for parameter in schedule.program.parameters}
    sizes: list[str] = []
    for name in names:
        size = f"T{name.rpartition('.')[2]}"
        while size in taken:
            size = f"{size}_"
        sizes.append(size)
    return tuple(sizes)


def _tile_name(schedule: Schedule, statement: str) -> str:
    around = loops_around(schedule.tree, statement)
    return next(loop.name for loop in around if loop.run_time_size is not None)
