"""Tilings whose sizes are given at run time: what the sizes of a program's tiles are chosen for."""

from __future__ import annotations

from collections.abc import Iterator

from ...default.default_schedule import orders
from ...default.request import Request
from ...descriptions import describe_tree
from ...polyhedral.context import ISL_LOCK
from ...schedule import Schedule
from ...schedule_tree import Loop, chain, leaves, loops_around
from ...transformation import Transformation, TransformationError
from ...transformations.distribute import Distribute
from ...transformations.interchange import Interchange
from ...transformations.parallel import Parallel
from ...transformations.tile import Tile
from ...transformations.vectorize import Vectorize

MOST = 3
"""Loops that are tiled."""


def open_tilings(original: Schedule, request: Request) -> Iterator[Schedule]:
    """The deepest nest of the program in tiles of run-time sizes, each of its loops innermost.

    In every order of the whole program: its own, and those of affine scheduling. The innermost
    point loop runs in vectors where it may, the outermost tile loop on threads.
    """
    with ISL_LOCK:
        found: dict[str, Schedule] = {}
        for order in orders(original, request):
            for tiling in _tilings(order, request):
                # Several orders may have this one in common.
                found.setdefault(describe_tree(tiling.scop, tiling.tree), tiling)
    yield from found.values()


def _tilings(order: Schedule, request: Request) -> Iterator[Schedule]:
    if not any(outer for _, outer in leaves(order.tree)):
        return
    deepest = max(leaves(order.tree), key=lambda leaf: len(leaf[1]))[0].statement
    schedule = _perfect(order, deepest)
    members = _band(schedule, deepest)
    for last in members:
        rest = [loop for loop in members if loop is not last]
        names = tuple(f"{deepest}.{loop.name}" for loop in (*rest, last))
        arranged = schedule
        if last is not members[-1]:
            moved = _try(schedule, Interchange(names))
            if moved is None:
                continue
            arranged = moved
        tiled = _tile(arranged, names[-MOST:])
        if tiled is None:
            continue
        if request.threads > 1:
            outermost = f"{deepest}.{_tile_name(tiled, deepest)}"
            tiled = _try(tiled, Parallel((outermost,))) or tiled
        yield _try(tiled, Vectorize((names[-1],))) or tiled


def _perfect(schedule: Schedule, statement: str) -> Schedule:
    """The schedule with the loops around a statement distributed as far as that is legal."""
    count = len(loops_around(schedule.tree, statement))
    for depth in range(1, count):
        around = loops_around(schedule.tree, statement)
        if len(chain(around[depth - 1])) > 1:
            continue
        names = tuple(f"{statement}.{loop.name}" for loop in around[:depth])
        for first in range(depth):
            distributed = _try(schedule, Distribute(names[first:]))
            if distributed is not None:
                schedule = distributed
                break
    return schedule


def _band(schedule: Schedule, statement: str) -> tuple[Loop, ...]:
    """The innermost loops around a statement that are directly inside each other."""
    around = loops_around(schedule.tree, statement)
    start = next(loop for loop in around if chain(loop)[-1] is around[-1])
    return chain(start)


def _tile(schedule: Schedule, names: tuple[str, ...]) -> Schedule | None:
    """The last loops in tiles, as many as may be."""
    arguments = {value.name_hint for value in schedule.program.func.body.block.args}
    taken = arguments | {parameter.name for parameter in schedule.program.parameters}
    for first in range(len(names)):
        sizes: list[str] = []
        for name in names[first:]:
            size = f"T{name.rpartition('.')[2]}"
            while size in taken:
                size = f"{size}_"
            sizes.append(size)
        tiled = _try(schedule, Tile(names[first:], tuple(sizes)))
        if tiled is not None:
            return tiled
    return None


def _tile_name(schedule: Schedule, statement: str) -> str:
    around = loops_around(schedule.tree, statement)
    return next(loop.name for loop in around if loop.run_time_size is not None)


def _try(schedule: Schedule, step: Transformation) -> Schedule | None:
    try:
        return schedule.apply(step)
    except TransformationError:
        return None
