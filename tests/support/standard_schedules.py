"""The usual schedules of a program: each transformation applied wherever it is legal."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.passes.polyhedral.schedule_tree import Loop, Sequence, Tree, chain
from loopwright.passes.schedules.errors import TransformationError
from loopwright.passes.schedules.schedule import Schedule, Transformation
from loopwright.passes.transformations.interchange import Interchange
from loopwright.passes.transformations.parallel import Parallel
from loopwright.passes.transformations.tile import Tile
from loopwright.passes.transformations.vectorize import Vectorize

TILE_SIZE = 32


def children(tree: Tree) -> tuple[Tree, ...]:
    """The trees directly below."""
    match tree:
        case Loop(body=body):
            return (body,)
        case Sequence(parts):
            return parts
        case _:
            return ()


def chains(tree: Tree) -> Iterator[tuple[Loop, ...]]:
    """All maximal chains of loops, in textual order."""
    if isinstance(tree, Loop):
        yield chain(tree)
        tree = chain(tree)[-1]
    for child in children(tree):
        yield from chains(child)


def applied(schedule: Schedule, transformation: Transformation) -> Schedule:
    """The transformed schedule, or the same one where that is not possible."""
    try:
        return schedule.apply(transformation)
    except TransformationError:
        return schedule


def chain_names(schedule: Schedule) -> list[tuple[str, ...]]:
    """The names of the loops of every chain."""
    return [
        tuple(schedule.short_name(loop) for loop in members) for members in chains(schedule.tree)
    ]


def interchange(schedule: Schedule) -> Schedule:
    """Swaps the two innermost loops of every chain."""
    for names in chain_names(schedule):
        if len(names) > 1:
            schedule = applied(schedule, Interchange((names[-1], names[-2])))
    return schedule


def tile(schedule: Schedule) -> Schedule:
    """Tiles the longest part of every chain that can be tiled."""
    for names in chain_names(schedule):
        parts = (
            names[start : start + length]
            for length in range(len(names), 0, -1)
            for start in range(len(names) - length + 1)
        )
        tiled = (applied(schedule, Tile(part, (TILE_SIZE,) * len(part))) for part in parts)
        schedule = next((new for new in tiled if new is not schedule), schedule)
    return schedule


def parallelize(schedule: Schedule) -> Schedule:
    """Marks the outermost loops that can be parallel."""
    return _parallelize(schedule, schedule.tree)


def _parallelize(schedule: Schedule, tree: Tree) -> Schedule:
    if isinstance(tree, Loop):
        marked = applied(schedule, Parallel((schedule.short_name(tree),)))
        if marked is not schedule:
            return marked
    for child in children(tree):
        schedule = _parallelize(schedule, child)
    return schedule


def vectorize(schedule: Schedule) -> Schedule:
    """Marks the innermost loops."""
    for members in list(chains(schedule.tree)):
        if not any(chain for child in children(members[-1]) for chain in chains(child)):
            schedule = applied(schedule, Vectorize((schedule.short_name(members[-1]),)))
    return schedule


STANDARD_SCHEDULES = {
    "as written": (),
    "interchange": (interchange,),
    "tile": (tile,),
    "parallel": (parallelize,),
    "vectorize": (vectorize,),
    "all": (interchange, tile, parallelize, vectorize),
}
"""Name -> steps, applied in turn."""


def standard_schedule(name: str, schedule: Schedule) -> Schedule:
    """The standard schedule of this name."""
    for step in STANDARD_SCHEDULES[name]:
        schedule = step(schedule)
    return schedule
