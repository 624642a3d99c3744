"""Last stage of the default schedule: loops around innermost ones are unrolled and jammed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from ..estimate.estimate import estimate
from ..estimate.program_statistics import StatementStatistics
from ..estimate.scheduled_program import ScheduledProgram
from ..estimate.scheduling_context import SchedulingContext
from ..estimate.vector_loops import VectorLoops
from ..polyhedral.isl_context import coalesced
from ..polyhedral.schedule_tree import (
    Loop,
    Tree,
    chain,
    chains,
    leaves,
    loops,
    loops_around,
    nest_of,
    nests,
    place_of,
    statements,
)
from ..polyhedral.scop import Statement
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
"""Of a loop that is not perfectly nested: more is left over."""

SHORT_SUM = 32
"""Terms up to which a sum is a short one."""

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
        vectors = VectorLoops(ScheduledProgram(schedule, context))
        around = _around_innermost(schedule, nest, vectors)
        for loop in [*around, *_imperfect_nests(schedule, nest, context)]:
            if sum(known[name].work for name in statements(loop)) < least_work:
                continue
            if any(_has_holes(schedule.scop.statement(name)) for name in statements(loop)):
                continue
            if _are_opaque_vectors(schedule, loop) or _has_short_sums(
                schedule, loop, vectors, known
            ):
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


def _around_innermost(schedule: Schedule, nest: Tree, vectors: VectorLoops) -> Iterator[Loop]:
    """Loops that are neither innermost, nor of tiles, nor marked but as parallel.

    Around marked vectors, only those whose iterations are independent: vectors that are made of
    others in registers are not when copies come in between. Around copies that LLVM is to make
    vectors of, only those around a recurrence: it does not from more of them.
    """
    for members in chains(nest):
        tiles = {loop.within.tile for loop in members if loop.within is not None}
        copies = prod(loop.unroll or 1 for loop in members)
        has_vectors = any(loop.vector is not None for loop in members)
        has_copies = any(loop.unroll is not None for loop in members)
        if copies * FACTORS[0] > MOST_COPIES:
            continue
        candidates = members[-INNERMOST:-1]
        if not has_vectors and (has_copies or _has_vectors_of_copies(members[-1], nest, vectors)):
            kept = next((k for k in reversed(range(len(members))) if members[k].unroll is None), 0)
            if schedule.is_coincident(members[kept]):
                continue
            candidates = members[:kept][-INNERMOST:]
        for loop in candidates:
            is_free = loop.vector is None and loop.unroll is None and loop.within is None
            is_undisturbed = not has_vectors or schedule.is_coincident(loop)
            if is_free and loop.name not in tiles and is_undisturbed:
                yield loop


def _imperfect_nests(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Iterator[Loop]:
    """Loops of independent iterations, not perfectly nested, with nothing marked inside."""
    known = context.statistics(schedule.scop).statements
    for loop in loops(nest):
        inside = list(loops(loop.body))
        is_plain = loop.vector is None and loop.unroll is None and loop.within is None
        if not any(loops(chain(loop)[-1].body)):
            continue
        if not is_plain or any(each.is_marked or each.within is not None for each in inside):
            continue
        name = statements(loop)[0]
        around = loops_around(schedule.tree, name)
        trips = known[name].trips(around)[place_of(loop, around)]
        if trips >= FEWEST_ITERATIONS and schedule.is_coincident(loop):
            yield loop


def _has_holes(statement: Statement) -> bool:
    """Whether some instances are left out in the midst of others, as by `if (i != j)`.

    Copies of several iterations would have a loop each, for the iterations around the hole.
    """
    domain = statement.domain
    return domain.n_basic_set() > 1 and coalesced(domain).n_basic_set() > 1


def _are_opaque_vectors(schedule: Schedule, around: Loop) -> bool:
    """Whether LLVM may make vectors of statements that the estimate knows little about.

    Not of copies that read at unlike places.
    """
    return any(
        schedule.scop.statement(leaf.statement).is_opaque and schedule.is_coincident(inside[-1])
        for leaf, inside in leaves(around)
    )


def _has_short_sums(
    schedule: Schedule,
    loop: Loop,
    vectors: VectorLoops,
    known: Mapping[str, StatementStatistics],
) -> bool:
    """Whether LLVM makes vectors of short sums beside other statements: not of their copies."""
    if not any(loops(chain(loop)[-1].body)):
        return False
    for leaf, _ in leaves(loop):
        statement = known[leaf.statement]
        outer = loops_around(schedule.tree, leaf.statement)
        vector, _ = vectors.around(statement, outer)
        if (
            vector is not None
            and vector is outer[-1]
            and vector.vector is None
            and statement.trips(outer)[-1] <= SHORT_SUM
            and statement.rewrites(outer, vector)
        ):
            return True
    return False


def _has_vectors_of_copies(innermost: Loop, nest: Tree, vectors: VectorLoops) -> bool:
    """Whether LLVM is to unroll a loop, and to make vectors of the copies."""
    return any(
        vectors.are_made_of_copies(leaf.statement, outer)
        for leaf, outer in leaves(nest)
        if any(loop is innermost for loop in outer)
    )


def _jam(schedule: Schedule, loop: Loop, factor: int) -> Schedule | None:
    return attempt(schedule, UnrollAndJam((f"{statements(loop)[0]}.{loop.name}",), factor=factor))
