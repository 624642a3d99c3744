"""Parallelisation moves."""

from __future__ import annotations

from collections.abc import Iterator

from ...estimate.scheduling_context import SchedulingContext
from ...polyhedral.schedule_tree import Loop, Sequence, Tree, chain, chains
from ...schedules.schedule import Schedule
from ...transformations.parallel import Parallel
from ...transformations.wavefront import Wavefront
from .moves import Move, one
from .trees import certain_names

OUTERMOST = 3
"""Parallel loops are among so many of the outermost loops of a chain."""


def parallel_loops(schedule: Schedule, part: Tree, context: SchedulingContext) -> Iterator[Move]:
    """One of the outer loops of a nest, two that are collapsed, or one of each part inside."""
    if context.threads == 1 or not isinstance(part, Loop):
        return
    members = chain(part)
    for depth, loop in enumerate(members[:OUTERMOST]):
        yield one(Parallel(certain_names([loop])))
        if depth + 1 < len(members):
            yield one(Parallel(certain_names([loop, members[depth + 1]])))
    body = members[-1].body
    if isinstance(body, Sequence):
        inner = [child for child in body.children if isinstance(child, Loop)]
        yield Move(tuple(Parallel(certain_names([loop])) for loop in inner), partial=True)


def wavefronts_of_tiles(
    schedule: Schedule, part: Tree, context: SchedulingContext
) -> Iterator[Move]:
    """Two outer loops of a chain run as wavefronts, along which iterations are parallel."""
    if context.threads == 1:
        return
    for members in chains(part):
        for start in range(min(2, len(members) - 2)):
            names = certain_names(members[start : start + 2])
            yield Move((Wavefront(names, factors=(1, 1)), Parallel(names[1:])))
