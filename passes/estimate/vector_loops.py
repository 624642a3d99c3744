"""Vector loops of statements, and the utilisation of their lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from math import ceil, inf, prod

import islpy as isl

from ..polyhedral.counting import fix_parameters
from ..polyhedral.schedule_tree import Loop, Tree, leaves, place_of, walk
from ..schedules.program_edits import outer_values
from .operation_costs import accumulates_in_lanes
from .program_statistics import StatementStatistics, is_scalar
from .scheduled_program import ScheduledProgram, innermost_loop

MOST_UNROLLED = 150
"""Operations up to which LLVM unrolls a loop fully (its threshold is a size of 300)."""

LONGEST_UNROLLED = 8.0
"""Iterations of such a loop where they are independent: longer ones are vectorised first
(`lowering.llvm.short_loops`)."""

MOST_UNROLLED_VECTORS = 256
"""Operations up to which loops with marked vectors are unrolled fully (`lowering.llvm.unrolling`).
"""


def narrowed(lanes: int, trips: float) -> int:
    """The lanes of vectors of which half would never be used by so few iterations."""
    while lanes > 2 and trips <= lanes // 2:
        lanes //= 2
    return lanes


class VectorLoops:
    """The vector loops of a program: marked ones, and those that LLVM vectorises."""

    def __init__(self, program: ScheduledProgram) -> None:
        self._program = program
        self._schedule = program.schedule
        self._in_step: dict[int, bool] = {}
        self._short: dict[int, bool] = {}

    def around(self, loops: tuple[Loop, ...]) -> Loop | None:
        """The loop that runs in lanes: as marked, or the innermost one where LLVM may do it."""
        marked = next((loop for loop in loops if loop.vector is not None), None)
        innermost = innermost_loop(loops)
        if marked is not None or innermost is None or self._program.is_explicit:
            return marked
        is_free = self._schedule.is_coincident(innermost) or (
            self._may_reassociate(innermost, loops) and self._only_sums(innermost)
        )
        return innermost if is_free else None

    def unrolled(self, loops: tuple[Loop, ...]) -> tuple[Loop, ...]:
        """The loops without those that are unrolled fully: short ones, and few marked vectors."""
        for depth, loop in enumerate(loops):
            if self._unrolls_all(loop, loops[:depth]):
                return (*loops[:depth], *(replace(short, unroll=0) for short in loops[depth:]))
        return loops

    def _unrolls_all(self, loop: Loop, outer: tuple[Loop, ...]) -> bool:
        """Whether a loop, and all inside of it, is unrolled: few operations, few iterations."""
        found = self._short.get(id(loop))
        if found is None:
            has_vectors = any(isinstance(x, Loop) and x.vector is not None for x in walk(loop))
            most = MOST_UNROLLED_VECTORS if has_vectors else MOST_UNROLLED
            operations, copies = self._copies(loop, outer)
            found = operations <= most
            if found and has_vectors:
                # What a loop around these would use again has no registers else, nor has the rest.
                found = copies < self._program.machine.vector_registers
            elif found:
                found = not self._is_vectorised_first(loop, outer)
            self._short[id(loop)] = found
        return found

    def _is_vectorised_first(self, tree: Loop, outer: tuple[Loop, ...]) -> bool:
        """Whether there is a loop of many independent iterations."""
        return any(
            count > LONGEST_UNROLLED and self._schedule.is_coincident(loop)
            for leaf, around in leaves(tree, outer)
            for loop, count in zip(
                around[len(outer) :],
                self._program.statement(leaf.statement).trips(around)[len(outer) :],
                strict=True,
            )
        )

    def _copies(self, tree: Tree, outer: tuple[Loop, ...]) -> tuple[float, float]:
        """Operations of a tree when all of its loops are unrolled, and copies of a statement.

        Infinite where a loop is kept.
        """
        operations = most = 0.0
        for leaf, loops in leaves(tree, outer):
            statement = self._program.statement(leaf.statement)
            inside = loops[len(outer) :]
            counts = statement.trips(loops)[len(outer) :]
            if any(each.parallel or each.unroll for each in inside):
                return inf, inf
            trips = (ceil(n / (x.vector or 1)) for x, n in zip(inside, counts, strict=True))
            copies = prod(trips)
            operations += copies * len(statement.statement.body)
            most = max(most, copies)
        return operations, most

    def is_in_step(self, loop: Loop, loops: tuple[Loop, ...]) -> bool:
        """Whether all statements of a vector loop run in the same iterations, without guards.

        Of a marked one, wherever the loops around have them run at all: a condition that is the
        same in all lanes keeps none from being a vector.
        """
        if len(loop.schedule) == 1:
            return True
        # Loops that are unrolled are copies, made for each statement: their schedule stays.
        key = id(loop.schedule)
        found = self._in_step.get(key)
        if found is None:
            around = loops[: place_of(loop, loops) + 1]
            first, *others = (self._iterations(name, around) for name in loop.schedule)
            if loop.vector is not None:
                found = all(_is_in_step_where_both_run(first, other) for other in others)
            else:
                found = all(first.is_equal(other) for other in others)
            self._in_step[key] = found
        return found

    def has_conditions_inside(
        self, statement: StatementStatistics, loop: Loop, loops: tuple[Loop, ...]
    ) -> bool:
        """Whether lanes of a vector loop run different iterations of loops inside, as at padding.

        Such a loop is left scalar.
        """
        if not statement.limits:
            return False
        place = place_of(loop, loops)
        own, inside = (
            {k for each in part for k, slope in enumerate(statement.slopes(each)) if slope}
            for part in (loops[place : place + 1], loops[place + 1 :])
        )
        return any((inside - own) & statement.limits.get(k, frozenset()) for k in own)

    def width(self, statement: StatementStatistics, loop: Loop) -> int:
        """The lanes of a vector along a loop; scalars of the program do not limit LLVM's."""
        if loop.vector is not None:
            return loop.vector
        kinds = {access.array: access.array.element_type for access in statement.statement.accesses}
        stored = [kind for array, kind in kinds.items() if not is_scalar(array)]
        return min(map(self._program.machine.lanes, stored or kinds.values()))

    def lanes(self, statement: StatementStatistics, loop: Loop, trips: float) -> float:
        """Instances per vector, on average."""
        whole, rest = divmod(trips, self.width(statement, loop))
        # What is left of a vector is masked: that takes longer than a whole one.
        vectors = whole + self._program.machine.masked_vector * (rest > 0)
        return max(1.0, trips / max(1.0, vectors))

    def _may_reassociate(self, loop: Loop, loops: tuple[Loop, ...]) -> bool:
        """Whether LLVM makes vectors of the terms of all that is accumulated in a loop.

        What is accumulated must stay at one place: sums in scatter form are no reductions for it.
        """
        accumulations = self._schedule.dependences.accumulations
        outer = loops[: place_of(loop, loops)]
        return all(
            accumulates_in_lanes(self._schedule, leaf.statement)
            and self._program.statement(leaf.statement).rewrites(inside, loop)
            for leaf, inside in leaves(loop, outer)
            if leaf.statement in accumulations
        )

    def _only_sums(self, loop: Loop) -> bool:
        """Whether all that iterations of a loop hand on is what statements accumulate."""
        legality, accumulations = self._schedule.legality, self._schedule.dependences.accumulations
        inside = self._domain(loop)
        active = (
            legality.active(self._schedule.functions_around(loop))
            .intersect_domain(inside)
            .intersect_range(inside)
        )
        crossing = active.subtract(active.eq_at_multi_union_pw_aff(legality.function(loop).multi))
        for name in loop.schedule:
            if name in accumulations:
                crossing = crossing.subtract(isl.UnionMap.from_map(accumulations[name].pairs))
        return crossing.is_empty()

    def _domain(self, loop: Loop) -> isl.UnionSet:
        parts = [self._program.statement(name).statement.domain for name in loop.schedule]
        return reduce(isl.UnionSet.union, map(isl.UnionSet.from_set, parts))

    def _iterations(self, name: str, loops: Sequence[Loop]) -> isl.Set:
        """The values that the loops around a statement take together."""
        values = outer_values(loops, self._program.statement(name).statement).range()
        return fix_parameters(values, self._program.context.sizes)


def _is_in_step_where_both_run(one: isl.Set, other: isl.Set) -> bool:
    """Whether two sets of values of loops are equal at those values of the outer that both have."""
    last = one.dim(isl.dim_type.set) - 1
    rows = [each.project_out(isl.dim_type.set, last, 1) for each in (one, other)]
    both = rows[0].intersect(rows[1]).insert_dims(isl.dim_type.set, last, 1)
    return one.intersect(both).is_equal(other.intersect(both))
