"""Last stage of the default schedule: loops around innermost ones are unrolled and jammed."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ..estimate.estimate import estimate
from ..estimate.scheduled_program import ScheduledProgram
from ..estimate.scheduling_context import SchedulingContext
from ..estimate.vector_loops import VectorLoops
from ..polyhedral.schedule_tree import (
    Loop,
    Sequence,
    Tree,
    chain,
    leaves,
    loops,
    nest_of,
    nests,
    statements,
)
from ..schedules.schedule import Schedule
from ..schedules.unrolled_copies import MOST_COPIES
from ..transformations.unroll_and_jam import UnrollAndJam
from .steps import attempt

GAIN = 0.9
"""Copies that share loads, or wait side by side, must be estimated to take this part of the time:
of programs that nobody tuned for, none was more than 5 % slower then."""

FACTORS = (2, 4, 8)

LEAST_SHARE = 0.05
"""Loops around less of the program's work than this are not tried: they cannot save a tenth."""

FEWEST_ITERATIONS = 16
"""Of loops around several others that are jammed."""

INNERMOST = 4
"""Only so many of the innermost loops of a chain are looked at."""


def jammed_loops(schedule: Schedule, context: SchedulingContext) -> Schedule:
    """The schedule with loops unrolled and jammed wherever that is clearly faster.

    Whatever strategy has made it: chains of dependent operations overlap, copies share what they
    load.

    for i:                              for i in steps of 4:
      for j:                              for j:
        y[i, j] = f(y[i, j - 1])    ->      y[i, j] = f(y[i, j - 1]); ... y[i + 3, j] = ...
    """
    seconds = estimate(schedule, context)
    known = context.statistics(schedule.scop).statements
    least_work = LEAST_SHARE * sum(each.work for each in known.values())
    # Loops of other nests keep their names.
    for names in [statements(nest) for nest in nests(schedule.tree)]:
        nest = nest_of(schedule.tree, names[0])
        best, least = schedule, seconds
        for loop in _around_innermost(schedule, nest, context):
            if sum(known[name].work for name in statements(loop)) < least_work:
                continue
            reached = seconds
            for factor in FACTORS:
                jammed = _jam(schedule, loop, factor)
                taken = reached if jammed is None else estimate(jammed, context)
                if jammed is None or taken >= GAIN * reached:
                    break
                reached = taken
                if taken < least:
                    best, least = jammed, taken
        schedule, seconds = best, least
    return schedule


def _around_innermost(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Iterator[Loop]:
    """Loops that are neither innermost, nor of tiles, nor marked but as parallel; each once.

    Around marked vectors, only those whose iterations are independent: vectors that are made of
    others in registers are not when copies come in between. Around copies that LLVM is to make
    vectors of, none: it does not from more of them.
    """
    vectors = VectorLoops(ScheduledProgram(schedule, context))
    statistics = context.statistics(schedule.scop)
    seen: set[int] = set()
    for members in _paths(nest):
        tiles = {loop.within.tile for loop in members if loop.within is not None}
        copies = prod(loop.unroll or 1 for loop in members)
        has_vectors = any(loop.vector is not None for loop in members)
        has_copies = any(loop.unroll is not None for loop in members)
        if copies * FACTORS[0] > MOST_COPIES:
            continue
        if not has_vectors and (has_copies or _has_vectors_of_copies(members[-1], nest, vectors)):
            continue
        for place, loop in list(enumerate(members))[-INNERMOST:-1]:
            is_free = loop.vector is None and loop.unroll is None and loop.within is None
            is_undisturbed = not has_vectors or schedule.is_coincident(loop)
            if len(chain(loop)) < len(members) - place:
                # Around several loops there is more that is left over.
                trips = statistics.statements[statements(members[-1])[0]].trips(members)[place]
                is_undisturbed = trips >= FEWEST_ITERATIONS and schedule.is_coincident(loop)
            if is_free and loop.name not in tiles and is_undisturbed and id(loop) not in seen:
                seen.add(id(loop))
                yield loop


def _paths(tree: Tree, outer: tuple[Loop, ...] = ()) -> Iterator[tuple[Loop, ...]]:
    """The loops around each innermost one, itself included."""
    if isinstance(tree, Loop):
        path = (*outer, tree)
        if any(loops(tree.body)):
            yield from _paths(tree.body, path)
        else:
            yield path
    elif isinstance(tree, Sequence):
        for child in tree.children:
            yield from _paths(child, outer)


def _has_vectors_of_copies(innermost: Loop, nest: Tree, vectors: VectorLoops) -> bool:
    """Whether LLVM is to unroll a loop, and to make vectors of the copies."""
    return any(
        vectors.are_made_of_copies(leaf.statement, outer)
        for leaf, outer in leaves(nest)
        if any(loop is innermost for loop in outer)
    )


def _jam(schedule: Schedule, loop: Loop, factor: int) -> Schedule | None:
    return attempt(schedule, UnrollAndJam((f"{statements(loop)[0]}.{loop.name}",), factor=factor))
