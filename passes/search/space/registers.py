"""Moves inside tiles: register tiling, vectorisation, unrolling."""

from __future__ import annotations

from collections.abc import Iterator

from ...estimate.scheduling_context import SchedulingContext
from ...polyhedral.schedule_tree import Leaf, Loop, Tree, chains, place_of
from ...schedules.schedule import Schedule
from ...schedules.unrolled_copies import MOST_COPIES, copies
from ...transformations.interchange import Interchange
from ...transformations.tile import Tile
from ...transformations.unroll import Unroll
from ...transformations.unroll_and_jam import UnrollAndJam
from ...transformations.vectorize import Vectorize
from .moves import Move, one
from .strides import is_contiguous
from .trees import certain_names, innermost_loops

BLOCKS = ((4, 1), (8, 1), (14, 1), (4, 2), (8, 2), (12, 2), (6, 3), (9, 3))
"""Register tiles as rows x vectors: what 16 and 32 vector registers hold, and halves of it."""

JAM_FACTORS = (2, 4, 8)
UNROLL_FACTORS = (2, 4, 8, 16)
"""LOOPer's 4, 8, 16, and 2."""

INNERMOST = 4
"""Only so many of the innermost loops of a chain take part in register tiles."""


def register_tiles(schedule: Schedule, part: Tree, context: SchedulingContext) -> Iterator[Move]:
    """Two loops of a perfect chain are cut into small blocks, unrolled inside all others.

    for k: for i: for j: S    ->    for it: for jt: for k: rows x vectors of S
    """
    for members in chains(part):
        tiles = {loop.within.tile for loop in members if loop.within is not None}
        points = [loop for loop in members[-INNERMOST:] if loop.name not in tiles]
        if not isinstance(members[-1].body, Leaf) or any(loop.is_marked for loop in points):
            continue
        for vector in (loop for loop in points if is_contiguous(schedule, loop)):
            for rows in (loop for loop in points if loop is not vector):
                yield from _blocks(schedule, points, rows, vector)


def _blocks(schedule: Schedule, points: list[Loop], rows: Loop, vector: Loop) -> Iterator[Move]:
    lanes = Vectorize(certain_names([vector])).resolve(schedule).width or 2
    others = [loop for loop in points if loop is not rows and loop is not vector]
    before, pair = [rows, vector, *others], certain_names([rows, vector])
    first = () if _same(before, points) else (Interchange(certain_names(before)),)
    last = (Interchange((*certain_names(others), *pair)),) if others else ()
    for height, width in BLOCKS:
        if height * width < schedule.target.vector_registers:
            tile = Tile(pair, (height, width * lanes))
            marks = Unroll(pair), Vectorize(pair[1:], width=lanes)
            yield Move((*first, tile, *last, *marks))


def _same(some: list[Loop], others: list[Loop]) -> bool:
    return all(a is b for a, b in zip(some, others, strict=True))


def jams(schedule: Schedule, part: Tree, context: SchedulingContext) -> Iterator[Move]:
    """A loop around innermost ones is unrolled, and its copies are jammed into these."""
    for members in chains(part):
        tiles = {loop.within.tile for loop in members if loop.within is not None}
        for loop in members[-INNERMOST:-1]:
            if loop.name not in tiles and not loop.is_marked:
                for factor in JAM_FACTORS:
                    if copies(part) * factor <= MOST_COPIES:
                        yield one(UnrollAndJam(certain_names([loop]), factor=factor))


def vectors(schedule: Schedule, part: Tree, context: SchedulingContext) -> Iterator[Move]:
    """The innermost loops run in lanes: all, those with contiguous accesses, or one of them."""
    found = [loop for loop in innermost_loops(part) if not loop.is_marked]
    near = [loop for loop in found if is_contiguous(schedule, loop)]
    for group in (near, found) if len(near) < len(found) else (found,):
        if group:
            steps = tuple(Vectorize(certain_names([loop])) for loop in group)
            yield Move(steps, partial=True)
    if len(near) > 1:
        yield from (one(Vectorize(certain_names([loop]))) for loop in near)


def inner_vectors(schedule: Schedule, part: Tree, context: SchedulingContext) -> Iterator[Move]:
    """A loop with contiguous accesses goes to the innermost place of its chain, into lanes."""
    for members in chains(part):
        points = [loop for loop in members[-INNERMOST:] if not loop.is_marked]
        for loop in points[:-1]:
            if is_contiguous(schedule, loop):
                start = place_of(loop, points)
                order = certain_names([*points[start + 1 :], loop])
                yield Move((Interchange(order), Vectorize(order[-1:])))


def unrollings(schedule: Schedule, part: Tree, context: SchedulingContext) -> Iterator[Move]:
    """The innermost loops are unrolled, all alike."""
    found = [loop for loop in innermost_loops(part) if loop.unroll is None and not loop.parallel]
    for factor in UNROLL_FACTORS:
        if found and copies(part) * factor <= MOST_COPIES:
            steps = tuple(Unroll(certain_names([loop]), factor=factor) for loop in found)
            yield Move(steps, partial=True)
