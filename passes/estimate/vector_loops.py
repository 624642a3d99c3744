"""Vector loops of statements, and the utilisation of their lanes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import accumulate, combinations
from math import ceil, inf, prod

import islpy as isl
from xdsl.dialects import arith

from ...dialects import affine
from ..polyhedral.counting import ends_agree, fix_parameters, has_at_most
from ..polyhedral.schedule_tree import Loop, Tree, leaves, place_of, walk
from ..schedules.active_pairs import Function
from ..schedules.program_edits import outer_values
from ..schedules.schedule import Schedule
from .elementary_functions import instructions
from .gather_costs import gathers_in_lanes
from .loops_around import has_masks
from .operation_costs import accumulates_in_lanes, adds_up_in_order, is_short, leaves_out_nan
from .program_statistics import Slope, StatementStatistics, bytes_of, is_scalar, subscript_steps
from .scheduled_program import ScheduledProgram, innermost_loop
from .scheduling_context import FunctionsKey
from .short_inner_loops import has_better_copies
from .unlike_steps import has_unlike_steps
from .vector_widths import narrowed
from .written_bounds import has_varying_bounds

MOST_UNROLLED = 250
"""Instructions up to which LLVM unrolls a loop fully; its threshold is 300, with addresses."""

GUARD = 2
"""Instructions of a comparison where bounds of a loop depend on another one: for each of them."""

LENGTHS_AT_BORDERS = 4
"""Trip counts of a loop of constant length, with those where guards take iterations away."""

FEWEST_HALVED = 16
"""Lanes of vectors from which on LLVM has vectors of half as many for the rest of a loop."""

FEWEST_WITHOUT_MASKS = 16
"""Iterations from which on LLVM leaves the rest of a loop to shorter vectors, and does not mask it
(its `TinyTripCountVectorThreshold`)."""

MOST_BORDERS = 0.25
"""The part of the vector loops in which lanes may run different statements, as where the rest of an
array is filled up: there, they are masked."""

NO_INSTRUCTIONS = (affine.LoadOp, affine.StoreOp, arith.ConstantOp)
"""Operations that are counted elsewhere, or are none."""

LONGEST_UNROLLED = 8.0
"""Iterations of such a loop where they are independent: longer ones are vectorised first
(`lowering.llvm.short_loops`)."""

MOST_UNROLLED_VECTORS = 256
"""Operations up to which loops of marked vectors are unrolled fully (`lowering.llvm.unrolling`)."""


class VectorLoops:
    """The vector loops of a program: marked ones, and those that LLVM vectorises."""

    def __init__(self, program: ScheduledProgram) -> None:
        self._program = program
        self._schedule = program.schedule
        self._in_step: dict[int, bool] = {}
        self._short: dict[int, bool] = {}
        self._free: dict[int, bool] = {}

    def around(
        self, statement: StatementStatistics, loops: tuple[Loop, ...]
    ) -> tuple[Loop | None, bool]:
        """The loop that runs in lanes, and whether one is marked that can't.

        That is the outermost marked one that can, or else the innermost one where LLVM can.
        """
        marked = [loop for loop in loops if loop.vector is not None]
        for loop in marked:
            if self._can_be_vector(statement, loop, loops):
                return loop, False
        innermost = innermost_loop(loops)
        if marked or innermost is None:
            return None, bool(marked)
        if self._program.is_explicit or not self._is_free(innermost, loops):
            return None, False
        if self._can_be_vector(statement, innermost, loops):
            return innermost, False
        return None, self._gathers_in_lanes(statement.statement.name, innermost, loops)

    def are_made_of_copies(self, name: str, loops: tuple[Loop, ...]) -> bool:
        """Whether LLVM makes vectors of stores that a short loop makes, which it unrolls before."""
        statement = self._program.statement(name)
        loops = self.unrolled(statement, loops)
        if all(loop.unroll is None or statement.rewrites(loops, loop) for loop in loops):
            return False
        vector, _ = self.around(statement, loops)
        return self.packed(loops) is not None if vector is None else vector.vector is None

    def _is_free(self, loop: Loop, loops: tuple[Loop, ...]) -> bool:
        """Whether LLVM makes vectors of a loop that dependences allow: asked for each statement.

        It must have the gathers of all of them, and no better copies of a loop inside.
        """
        found = self._free.get(id(loop))
        if found is None:
            sums = self._sums(loop, loops) | self.ordered_sums(loop, loops)
            sums |= self._extrema(loop, loops)
            found = self._schedule.is_lockstep(loop) or self._hands_on_sums(
                loop, self._schedule.functions_around(loop), sums
            )
            outer = loops[: place_of(loop, loops)]
            found = self._free[id(loop)] = (
                found
                and not has_unlike_steps(self._program, loop, outer)
                and not has_better_copies(self._program, loop, outer)
                and all(
                    self._gathers_in_lanes(leaf.statement, loop, around)
                    for leaf, around in leaves(loop, outer)
                )
            )
        return found

    def packed(self, loops: tuple[Loop, ...]) -> Loop | None:
        """An unrolled loop of independent copies, of which LLVM's SLP vectoriser can make vectors.

        Or of the terms of a sum. There is no marked vector loop.
        """
        # Loops of `unrolled` are not in the tree, which would know what is around them.
        legality = self._schedule.legality
        outer = list(accumulate(loops, legality.inside, initial=frozenset[Function]()))
        for around, loop in zip(reversed(outer[:-1]), reversed(loops), strict=True):
            if loop.unroll != 0:
                return None
            if legality.is_coincident(around, loop) or self._hands_on_sums(
                loop, around, self._sums(loop, loops)
            ):
                return loop
        return None

    def _can_be_vector(
        self, statement: StatementStatistics, loop: Loop, loops: tuple[Loop, ...]
    ) -> bool:
        return (
            self.is_in_step(loop, loops)
            and not self._has_conditions_inside(statement, loop, loops)
            and self._gathers_in_lanes(statement.statement.name, loop, loops)
        )

    def _gathers_in_lanes(self, name: str, loop: Loop, loops: tuple[Loop, ...]) -> bool:
        statement = self._program.statement(name)
        if not statement.gathers or loop.vector is not None:
            return True
        return gathers_in_lanes(statement, statement.direction(loops, loop))

    def unrolled(self, statement: StatementStatistics, loops: tuple[Loop, ...]) -> tuple[Loop, ...]:
        """The loops without those that are unrolled fully: short ones, and few vectors."""
        for depth, loop in enumerate(loops):
            if self._unrolls_all(loop, loops[:depth]):
                short = (x if x.unroll == 0 else replace(x, unroll=0) for x in loops[depth:])
                return (*loops[:depth], *short)
        if self._unrolls_vectors(statement, loops):
            width = self.width(statement, loops[-1])
            return (*loops[:-1], replace(loops[-1], vector=width, unroll=0))
        return loops

    def _unrolls_vectors(self, statement: StatementStatistics, loops: tuple[Loop, ...]) -> bool:
        """Whether LLVM makes vectors of the innermost loop, so few that registers hold them."""
        if not loops:
            return False
        loop = loops[-1]
        if (
            self._program.is_explicit
            or loop.vector is not None
            or loop.unroll is not None
            or not any(statement.rewrites(loops, each) for each in loops[:-1])
        ):
            return False
        width = self.width(statement, loop)
        vectors = statement.trips(loops)[-1] / width
        return (
            1 < vectors <= self._program.machine.vector_registers / 2
            and self._is_free(loop, loops)
            and self._can_be_vector(statement, loop, loops)
            and not statement.rewrites(loops, loop)
            and self.has_constant_length(statement.statement.name, loops)
        )

    def _unrolls_all(self, loop: Loop, outer: tuple[Loop, ...]) -> bool:
        """Whether a loop, and all inside of it, is unrolled: few operations, few iterations."""
        found = self._short.get(id(loop))
        if found is None:
            has_vectors = _has_vectors(loop)
            most = MOST_UNROLLED_VECTORS if has_vectors else MOST_UNROLLED
            operations, results = self._copies(loop, outer)
            found = operations <= most
            if found and has_vectors:
                # What a loop around these would use again has no registers else, nor has the rest.
                found = results < self._program.machine.vector_registers
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
        """Operations of a tree when all of its loops are unrolled, and results of a statement.

        Infinite where a loop is kept.
        """
        operations = most = 0.0
        for leaf, loops in leaves(tree, outer):
            statement = self._program.statement(leaf.statement)
            inside = loops[len(outer) :]
            counts = statement.trips(loops)[len(outer) :]
            trips = [ceil(n / (x.vector or 1)) for x, n in zip(inside, counts, strict=True)]
            if any(
                each.parallel or (each.unroll and each.unroll < trip)
                for each, trip in zip(inside, trips, strict=True)
            ):
                return inf, inf
            copies = prod(trips)
            if copies > MOST_UNROLLED:
                return inf, inf
            marked = _has_vectors(tree)
            if not all(
                each.unroll is not None or self.has_constant_length(leaf.statement, loops[:depth])
                for depth, each in enumerate(loops, start=1)
                if depth > len(outer)
            ):
                return inf, inf
            size = self.size(statement, loops, len(outer), is_fused=marked, is_loop_ir=marked)
            size += GUARD * len(statement.limits) * (not marked)
            operations += copies * size
            results = {(write.array.name, write.map) for write in statement.statement.writes}
            most = max(most, copies * len(results))
        return operations, most

    def has_constant_length(self, name: str, loops: tuple[Loop, ...]) -> bool:
        """Whether the last of the loops around a statement always has as many iterations.

        As the program was written, guards at borders, as of padding, may take a few away, which are
        bounds of the loops in a schedule. The last tile may be smaller.
        """
        is_written = not self._schedule.transformations
        has_borders = loops[-1].within is not None or (
            is_written and not has_varying_bounds(self._program.statement(name), loops[-1])
        )
        known = self._program.context.constant_lengths
        key = self._key(name, loops), has_borders
        if key not in known:
            values = isl.Map.from_range(self._iterations(name, loops))
            values = values.move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, len(loops) - 1)
            lengths = values.lexmin().reverse().apply_range(values.lexmax()).deltas()
            lengths = lengths.project_out(isl.dim_type.param, 0, lengths.dim(isl.dim_type.param))
            known[key] = has_at_most(lengths, LENGTHS_AT_BORDERS if has_borders else 1)
        return known[key]

    def size(
        self,
        statement: StatementStatistics,
        loops: tuple[Loop, ...],
        depth: int,
        *,
        is_fused: bool = True,
        is_loop_ir: bool = False,
    ) -> int:
        """Instructions of a copy when the loops from a depth on are unrolled.

        Those are one for each place in memory, as what stays at one place is in a register; one
        for a product and the sum that it is added to, if these are fused; and one for the index.
        An elementary function is one operation of loop IR, and else as long as its code.
        """
        body = statement.statement.body
        computing = [each for each in body if not isinstance(each, NO_INSTRUCTIONS)]
        fused = min(
            sum(isinstance(each, kind) for each in computing)
            for kind in (arith.MulfOp, arith.AddfOp)
        )
        directions = [statement.direction(loops, loop) for loop in loops[depth:]]
        places = {
            (access.array.name, access.map, access.kind)
            for access in statement.statement.accesses
            if any(d is None or any(subscript_steps(access, d)) for d in directions)
        }
        count = len(computing) - fused * is_fused + len(places) + 1
        is_expanded = self._schedule.target.fuses_multiply_adds and not is_loop_ir
        return count + sum(map(instructions, computing)) if is_expanded else count

    def is_in_step(self, loop: Loop, loops: tuple[Loop, ...]) -> bool:
        """Whether all statements of a loop that run under it run in the same of its iterations.

        Some may not run at all for some values of the loops around it: such guards are outside.
        Where LLVM makes the vectors, it selects what is stored to scalars of the program, but does
        not compute many alternatives of one value, as at mirrored borders.
        """
        if len(loop.schedule) == 1:
            return True
        # Loops that are unrolled are copies, made for each statement: their schedule stays.
        key = id(loop.schedule)
        found = self._in_step.get(key)
        if found is None:
            around = loops[: place_of(loop, loops) + 1]
            parts: list[isl.Set] = []  # Of statements of long bodies, most have the same.
            for name in loop.schedule:
                if loop.vector is not None or self._stores_elements(name):
                    part = self._iterations(name, around)
                    if not any(part.plain_is_equal(each) for each in parts):
                        parts.append(part)
            # Vector loops of full tiles are generated without those that differ at borders.
            most = MOST_BORDERS if loop.vector is not None else 0.0
            found = all(ends_agree(one, other, most) for one, other in combinations(parts, 2))
            found = found and (loop.vector is not None or not self._has_alternatives(loop, around))
            self._in_step[key] = found
        return found

    def _has_alternatives(self, loop: Loop, around: Sequence[Loop]) -> bool:
        """Whether several statements read elements for one scalar, one in each iteration.

        Of a program as written, three: LLVM selects one of two addresses there, not in schedules.
        """
        fewest = 1 if self._schedule.transformations else 2
        groups: defaultdict[tuple[str, Sequence[int]], list[isl.Set]] = defaultdict(list)
        for leaf, loops in leaves(loop, tuple(around[:-1])):
            statement = self._program.statement(leaf.statement).statement
            stores_scalar = statement.writes and not self._stores_elements(leaf.statement)
            if stores_scalar and any(not is_scalar(read.array) for read in statement.reads):
                key = statement.writes[0].array.name, tuple(map(id, loops))
                groups[key].append(self._iterations(leaf.statement, loops))
        return any(
            sum(one.is_disjoint(other) for one, other in combinations(group, 2)) >= fewest
            for group in groups.values()
        )

    def _stores_elements(self, name: str) -> bool:
        writes = self._program.statement(name).statement.writes
        return not all(is_scalar(write.array) for write in writes)

    def _has_conditions_inside(
        self, statement: StatementStatistics, loop: Loop, loops: tuple[Loop, ...]
    ) -> bool:
        """Whether lanes of a vector loop run different iterations of loops inside, as at padding.

        Such a loop is left scalar without masks. Where LLVM makes the vectors, copies of unrolled
        loops are masked.
        """
        place = place_of(loop, loops)
        inside = loops[place + 1 :]
        # What moves in both is bounded, so that where one begins and ends depends on the other.
        own, *others = (_moved(statement.direction(loops, each)) for each in loops[place:])
        if any(own & moved for moved in others):
            return True
        if not statement.limits or (loop.vector is not None and self._has_masks(statement, inside)):
            return False
        if loop.vector is None and self._has_masked_copies(statement, inside):
            return False
        along, across = (
            {k for each in part for k, slope in enumerate(statement.slopes(each)) if slope}
            for part in (loops[place : place + 1], inside)
        )
        return any((across - along) & statement.limits.get(k, frozenset()) for k in along)

    def _has_masks(self, statement: StatementStatistics, inside: Sequence[Loop]) -> bool:
        """Whether lanes of a marked loop run loops inside under masks (`loops.predication`).

        Unrolled ones are conditions of each copy, or have other code at borders.
        """
        return all(loop.within is loop.unroll is None for loop in inside) and has_masks(
            statement.statement, self._schedule.target
        )

    def _has_masked_copies(self, statement: StatementStatistics, inside: Sequence[Loop]) -> bool:
        kinds = (read.array for read in statement.statement.reads if not is_scalar(read.array))
        return all(loop.unroll == 0 for loop in inside) and all(
            self._schedule.target.has_masked_loads(bytes_of(array.element_type)) for array in kinds
        )

    def width(self, statement: StatementStatistics, loop: Loop) -> int:
        """The lanes of a vector along a loop; scalars of the program do not limit LLVM's."""
        if loop.vector is not None:
            return loop.vector
        kinds = {access.array: access.array.element_type for access in statement.statement.accesses}
        stored = [kind for array, kind in kinds.items() if not is_scalar(array)]
        return min(map(self._program.machine.lanes, stored or kinds.values()))

    def lanes(self, statement: StatementStatistics, loop: Loop, trips: float) -> float:
        """Instances per vector, on average."""
        width = self.width(statement, loop)
        if loop.vector is None:
            width = narrowed(width, trips)
        whole, rest = divmod(trips, width)
        # What is left of a vector is masked: that takes longer than a whole one.
        masked = self._program.machine.masked_vector
        # Where the average is beyond the longest part of a vector, some are whole.
        full = max(0.0, rest - (width - 1))
        left = full + masked * (1 - full) * (rest > 0)
        if loop.vector is None and not self._is_masked(statement, loop, trips):
            # LLVM runs it in shorter vectors of long ones, and then one by one, which overlap.
            shorter, single = divmod(rest, width // 2) if width >= FEWEST_HALVED else (0, rest)
            left = max(left, shorter + single / 2) if loop.unroll is None else int(rest).bit_count()
        return max(1.0, trips / max(1.0, whole + left))

    def _is_masked(self, statement: StatementStatistics, loop: Loop, trips: float) -> bool:
        """Whether LLVM masks the last vector of a loop: few iterations, too long to be unrolled."""
        size = sum(len(self._program.statement(name).statement.body) for name in loop.schedule)
        kinds = (each.array for each in statement.statement.accesses if not is_scalar(each.array))
        return (
            loop.unroll is None
            and trips < FEWEST_WITHOUT_MASKS
            and trips * size > MOST_UNROLLED
            and all(
                self._schedule.target.has_masked_loads(bytes_of(array.element_type))
                for array in kinds
            )
        )

    def _sums(self, loop: Loop, loops: tuple[Loop, ...]) -> set[str]:
        """The statements of a loop that LLVM makes vectors of the terms of.

        What is accumulated must stay at one place: sums in scatter form are no reductions for it.
        """
        found, statement = self._staying(accumulates_in_lanes, loop, loops), self._program.statement
        around = loops[: 1 + place_of(loop, loops)]
        trips = {name: statement(name).trips(around)[-1] for name in found}
        return {name for name in found if not is_short(self._schedule, name, trips[name])}

    def ordered_sums(self, loop: Loop, loops: tuple[Loop, ...]) -> set[str]:
        """The statements of a loop of which LLVM makes vectors of terms, added one by one."""
        return self._staying(adds_up_in_order, loop, loops)

    def _extrema(self, loop: Loop, loops: tuple[Loop, ...]) -> set[str]:
        """The one extremum of a loop that leaves out NaN, which LLVM looks for."""
        found = self._staying(leaves_out_nan, loop, loops)
        return found if len(found) == 1 and found == set(loop.schedule) else set()

    def _staying(
        self, is_sum: Callable[[Schedule, str], bool], loop: Loop, loops: tuple[Loop, ...]
    ) -> set[str]:
        """Such sums among the statements of a loop, that stay at one place along it."""
        return {
            leaf.statement
            for leaf, inside in leaves(loop, loops[: place_of(loop, loops)])
            if is_sum(self._schedule, leaf.statement)
            and self._program.statement(leaf.statement).rewrites(inside, loop)
        }

    def _hands_on_sums(self, loop: Loop, outer: frozenset[Function], sums: set[str]) -> bool:
        """Whether iterations of a loop hand on what these statements accumulate, and only that."""
        if not sums:
            return False
        legality, accumulations = self._schedule.legality, self._schedule.dependences.accumulations
        inside = self._domain(loop)
        active = legality.active(outer).intersect_domain(inside).intersect_range(inside)
        crossing = active.subtract(active.eq_at_multi_union_pw_aff(legality.function(loop).multi))
        for name in sums:
            crossing = crossing.subtract(isl.UnionMap.from_map(accumulations[name].pairs))
        return crossing.is_empty()

    def _domain(self, loop: Loop) -> isl.UnionSet:
        parts = [self._program.statement(name).statement.domain for name in loop.schedule]
        return reduce(isl.UnionSet.union, map(isl.UnionSet.from_set, parts))

    def _iterations(self, name: str, loops: Sequence[Loop]) -> isl.Set:
        """The values that the loops around a statement take together, found out once."""
        context, key = self._program.context, self._key(name, loops)
        if key not in context.iterations:
            statement = self._program.statement(name).statement
            values = fix_parameters(outer_values(loops, statement).range(), context.sizes)
            kept = (statement, *(loop.schedule[name] for loop in loops))
            context.iterations[key] = kept, values
        return context.iterations[key][1]

    def _key(self, name: str, loops: Sequence[Loop]) -> FunctionsKey:
        """Stays the same from schedule to schedule where nothing but marks differs."""
        statement = self._program.statement(name).statement
        return id(statement), *(id(loop.schedule[name]) for loop in loops)


def _moved(direction: Sequence[Slope] | None) -> set[int]:
    """The iterators that move along a loop; none where that is not known."""
    return set() if direction is None else {k for k, step in enumerate(direction) if step}


def _has_vectors(tree: Tree) -> bool:
    """Whether some loop of a tree is marked: LLVM fuses products and sums when it has unrolled."""
    return any(isinstance(each, Loop) and each.vector is not None for each in walk(tree))
