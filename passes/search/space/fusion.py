"""Fusion and distribution moves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ...estimate.scheduling_context import SchedulingContext
from ...polyhedral.schedule_tree import Loop, Sequence, Tree, chains, walk
from ...schedules.schedule import Schedule
from ...transformations.distribute import Distribute
from ...transformations.fuse import Fuse
from .moves import Move, one
from .trees import certain_names


def fusions(schedule: Schedule, part: Tree, context: SchedulingContext) -> Iterator[Move]:
    """Every two loops that follow each other become one, or those inside them, too.

    Where their values must be shifted for that, they are.
    """
    for node in walk(part):
        if isinstance(node, Sequence):
            for first, second in pairwise(node.children):
                if isinstance(first, Loop) and isinstance(second, Loop):
                    yield from _fusions(first, second)


def _fusions(first: Loop, second: Loop) -> Iterator[Move]:
    steps: list[Fuse] = []
    current: tuple[Tree, Tree] = (first, second)
    while isinstance(current[0], Loop) and isinstance(current[1], Loop):
        names = certain_names([current[0], current[1]])
        yield Move((*steps, Fuse(names)))
        yield Move((*steps, Fuse(names, shift="auto")))
        steps.append(Fuse(names))
        current = current[0].body, current[1].body


def distributions(schedule: Schedule, part: Tree, context: SchedulingContext) -> Iterator[Move]:
    """The parts of what a loop, or a chain, contains get loops of their own."""
    for members in chains(part):
        if isinstance(members[-1].body, Sequence):
            for start in range(len(members)):
                yield one(Distribute(certain_names(members[start:])))
