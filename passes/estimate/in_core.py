"""In-core execution time: ports and latencies, with all data in the first-level cache."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from math import log2, prod

from xdsl.dialects import arith
from xdsl.ir import Operation
from xdsl.ir.affine import AffineExpr

from ..polyhedral.rounded_subscripts import is_rounded
from ..polyhedral.schedule_tree import Leaf, Loop, leaves, loops_around, place_of, statements
from ..polyhedral.schedule_tree import loops as loops_of
from ..polyhedral.scop import Access, Statement
from .access_costs import port_cycles
from .elementary_functions import has_elementary_functions
from .gather_costs import gather_cycles
from .handed_values import handed_values
from .latency_in_memory import latency_in_memory
from .loops_around import LoopsAround
from .masked_rows import behind_masked_rows
from .operation_costs import Changes, operation_class, throughput
from .paired_products import adds_pairs
from .partial_tiles import partial_cycles, utilisation
from .program_statistics import StatementStatistics, bytes_of, is_moved, is_scalar
from .recurrence_bound import lanes_latency, recurrence
from .relative_work import opaque_operations
from .scheduled_program import ScheduledProgram, innermost_loop, value_in_iterators
from .strided_accesses import LARGEST_STRIDE
from .vector_loops import VectorLoops

MOST_TOGETHER = 24
"""Statements in a loop up to which chains are followed from one to the next."""

INTERLEAVED = 4
"""Vectors that LLVM computes side by side where it makes them by itself."""

PACKED_FUNCTIONS = 2.5
"""How much longer statements with elementary functions take where LLVM's SLP vectoriser packs them:
it packs a part of that code (measured on a Zen 5: 2 to 3, to 6 in a jammed loop)."""

PACKED_CONDITIONS = 1.4
"""The same for sums of terms that conditions choose (measured on a Zen 4, with AVX2)."""


@dataclass(frozen=True)
class CoreCycles:
    """Cycles that a vector of `lanes` instances of a statement takes in a core, by what bounds it.

    `operations` are those of arithmetic and shuffles, `accesses` of the load and store ports,
    `latency` of the longest chain of dependent operations, `guards` of conditions around it.
    `threads` share the instances.
    """

    instances: float
    lanes: float
    threads: float
    operations: float
    accesses: float
    latency: float
    guards: float

    @property
    def total(self) -> float:
        """The bound that is highest, and the guards."""
        return self.guards + max(self.operations, self.accesses, self.latency)


@dataclass(frozen=True)
class Shared:
    """What statements in the same loops have computed, loaded and stored so far.

    `handed` are accesses of the nest that are none, as values stay in registers; `late` are loads
    that wait for what was stored under a mask.
    """

    operations: set[Operation] = field(default_factory=set[Operation])
    places: set[Hashable] = field(default_factory=set[Hashable])
    handed: frozenset[tuple[str, Access]] = frozenset()
    late: frozenset[tuple[str, Access]] = frozenset()

    def copy(self) -> Shared:
        """The same, to go on from."""
        return replace(self, operations={*self.operations}, places={*self.places})


class InCoreTime:
    """The in-core execution time of the statements of a program."""

    def __init__(self, program: ScheduledProgram) -> None:
        self._program = program
        self._vector_loops = VectorLoops(program)
        self._recurrences: dict[tuple[Loop, tuple[str, ...]], float] = {}

    def nest_seconds(self, nest: Loop, parts: Sequence[Loop]) -> list[float]:
        """Seconds for parts of a nest if all data were in the nearest cache: bodies one by one."""
        bodies = groupby(leaves(nest, ()), key=lambda each: tuple(map(id, each[1])))
        before = Shared(
            handed=handed_values(self._program, nest), late=behind_masked_rows(self._program, nest)
        )
        found = dict.fromkeys(map(id, parts), 0.0)
        for around, body in bodies:
            part = next(each for each in around if each in found)
            found[part] += self._body_seconds(list(body), before)
        return list(found.values())

    def seconds(self, leaf: Leaf, loops: tuple[Loop, ...]) -> float:
        """Seconds for the instances of a statement if all data were in the nearest cache."""
        cycles = self.cycles(leaf, loops)
        return 0.0 if cycles is None else self._seconds(cycles)

    def _body_seconds(
        self,
        members: Sequence[tuple[Leaf, tuple[Loop, ...]]],
        before: Shared,
    ) -> float:
        """Of statements in the same loops: what one waits for, others use.

        What several of them compute or load is there once.
        """
        shared: dict[Hashable, Shared] = {}
        parts: list[CoreCycles] = []
        for leaf, loops in members:
            # Statements that are shifted against each other run with values of other iterations.
            place = tuple(value_in_iterators(loop, leaf.statement) for loop in loops)
            cycles = self.cycles(leaf, loops, shared.setdefault(place, before.copy()))
            if cycles is not None:
                parts.append(cycles)
        if len(shared) > 1 and any(part.guards for part in parts):
            # What one has stored in an earlier iteration, others load.
            wait = self._program.machine.store_forwarding
            parts = [replace(p, latency=p.latency + wait if p.latency else 0.0) for p in parts]
        alike: dict[tuple[float, float, float], list[CoreCycles]] = {}
        for part in parts:
            alike.setdefault((part.instances, part.lanes, part.threads), []).append(part)
        return sum(
            self._seconds(
                replace(
                    group[0],
                    operations=sum(part.operations for part in group),
                    accesses=sum(part.accesses for part in group),
                    latency=max(part.latency for part in group),
                    guards=sum(part.guards for part in group),
                )
            )
            for group in alike.values()
        )

    def _seconds(self, cycles: CoreCycles) -> float:
        vectors = cycles.instances / cycles.lanes
        return vectors * cycles.total / self._program.machine.hertz / cycles.threads

    def cycles(
        self, leaf: Leaf, loops: tuple[Loop, ...], shared: Shared | None = None
    ) -> CoreCycles | None:
        """What bounds a statement in the core; None where it has no instances.

        Without what others in the same loops share with it, if these are given.
        """
        shared = shared or Shared()
        statistics = self._program.statement(leaf.statement)
        if not statistics.instances:
            return None
        loops = self._vector_loops.unrolled(statistics, loops)
        vector, is_scalar = self._vector_loops.around(statistics, loops)
        if statistics.statement.is_opaque:
            vector = None
        chosen: list[Loop | None] = [vector]
        if vector is None and not is_scalar:
            chosen.append(self._vector_loops.packed(loops))
        elif vector is not None and (
            self._is_apart(statistics, loops, vector) or self._is_short(statistics, loops, vector)
        ):
            # LLVM leaves scalars, or packs copies of an unrolled loop.
            chosen = [None, self._vector_loops.packed(loops), vector]
        if len({*map(id, chosen)}) == 1:
            return self._cycles(statistics, loops, vector, shared, is_scalar=is_scalar)
        # LLVM packs copies where that is faster.
        found = [
            (self._cycles(statistics, loops, each, own, is_scalar=False), own)
            for each in chosen
            for own in [shared.copy()]
        ]
        best, own = min(found, key=lambda each: each[0].total / each[0].lanes)
        shared.operations.update(own.operations)
        shared.places.update(own.places)
        return best

    def _is_apart(
        self, statement: StatementStatistics, loops: tuple[Loop, ...], vector: Loop
    ) -> bool:
        """Whether LLVM would gather or scatter in a vector loop of its own."""
        direction, statistics = statement.direction(loops, vector), self._program.statistics
        return vector.vector is None and any(
            direction is None
            or not -1 <= statement.stride(each, direction, statistics) <= LARGEST_STRIDE
            for each in statement.statement.accesses
        )

    def _is_short(
        self, statement: StatementStatistics, loops: tuple[Loop, ...], vector: Loop
    ) -> bool:
        """Whether LLVM's loop has fewer iterations than a vector has lanes, not always as many.

        Else, it is unrolled, or has shorter vectors.
        """
        if vector.vector is not None or vector.unroll is not None:
            return False
        place = place_of(vector, loops)
        return statement.trips(loops)[place] < self._vector_loops.width(
            statement, vector
        ) and not self._vector_loops.has_constant_length(
            statement.statement.name, loops[: place + 1]
        )

    def _cycles(
        self,
        statistics: StatementStatistics,
        loops: tuple[Loop, ...],
        vector: Loop | None,
        shared: Shared,
        *,
        is_scalar: bool,
    ) -> CoreCycles:
        """What bounds a statement with a vector loop, or without one."""
        program = self._program
        trips = statistics.trips(loops)
        lanes = along = 1.0
        if vector is not None:
            along = next(t for loop, t in zip(loops, trips, strict=True) if loop is vector)
            if self._is_short(statistics, loops, vector):
                vector = None
            else:
                lanes = self._vector_loops.lanes(statistics, vector, along)
        around = LoopsAround(loops, trips, vector, lanes)
        ports, shuffles = port_cycles(program, statistics, around, shared.places, shared.handed)
        operations = throughput(
            statistics,
            program.schedule.target,
            self._changes(statistics, loops),
            partial(_repeats, loops, trips, vector, lanes),
            lanes=lanes,
            reassociate=program.schedule.reassociate,
            explicit=vector is not None and vector.vector is not None,
            pairs=program.schedule.target.adds_products_in_pairs and adds_pairs(statistics, loops),
            done=shared.operations,
            scalar_bits=_scalar_bits(statistics.statement, vector),
            gathers=gather_cycles(statistics, loops, vector, lanes, program.machine),
        )
        is_packed = vector is not None and vector.vector is None and vector.unroll == 0
        if is_packed and has_elementary_functions(statistics.statement, program.schedule.target):
            operations *= PACKED_FUNCTIONS
        if is_packed and _adds_on_conditions(statistics, loops):
            operations *= PACKED_CONDITIONS
        if vector is not None and statistics.rewrites(loops, vector):
            # The lanes of a sum are added at its end.
            steps = log2(lanes) / max(1.0, along / lanes)
            operations += 2 * steps * program.machine.cycles["additions"]
        name = statistics.statement.name
        is_late = any((name, access) in shared.late for access in statistics.statement.accesses)
        utilised = utilisation(statistics, loops)
        guards = 1.0 if is_scalar else self._guards(loops, trips, vector, lanes)
        return CoreCycles(
            statistics.instances / utilised,
            lanes,
            program.threads(statistics, loops),
            operations + shuffles + opaque_operations(statistics.statement),
            ports,
            max(
                self._latency(statistics, around),
                latency_in_memory(program, statistics, around),
                is_late * lanes * program.machine.masked_forwarding,
                self._latency_in_order(statistics, loops, vector, lanes),
                lanes_latency(statistics, loops, vector, lanes, program.machine),
            ),
            program.machine.guard_cycles * guards
            + partial_cycles(statistics, loops, utilised) * lanes / statistics.instances,
        )

    def _guards(
        self,
        loops: tuple[Loop, ...],
        trips: tuple[float, ...],
        vector: Loop | None,
        lanes: float,
    ) -> float:
        """Guards for each vector of instances: what is the same in inner loops stands outside."""
        guards = 1.0
        for loop, count in zip(reversed(loops), reversed(trips), strict=True):
            # In copies of an unrolled loop, guards are decided.
            if loop.unroll != 0 and not self._vector_loops.is_in_step(loop, loops):
                return guards
            guards /= max(1.0, count / lanes if loop is vector else count)
        return 0.0

    def _changes(self, statement: StatementStatistics, loops: tuple[Loop, ...]) -> Changes:
        """In which of the loops around a statement a load or an index may differ.

        Those of local arrays wrap around in tiles, which their slopes do not show.
        """
        trips = statement.trips(loops)
        directions = [statement.direction(loops, loop) for loop in loops]
        written = [
            {
                write.array.name
                for name in loop.schedule
                for write in self._program.statement(name).statement.writes
            }
            for loop in loops
        ]

        def positions(value: Access | AffineExpr) -> frozenset[int]:
            if isinstance(value, AffineExpr):
                iterators = value.used_dims()
                return frozenset(
                    position
                    for position, direction in enumerate(directions)
                    if direction is None or any(direction[dim] for dim in iterators)
                )
            load = value
            return frozenset(
                position
                for position, direction in enumerate(directions)
                if direction is None
                or (load.array.is_local and is_rounded(load.map))
                or load.array.name in written[position]
                or is_moved(load, direction, trips[position])
            )

        return positions

    def _latency(self, statement: StatementStatistics, around: LoopsAround) -> float:
        """Cycles per vector of instances that a chain of dependent operations takes at least."""
        loops, vector, lanes = around.loops, around.vector, around.lanes
        innermost = innermost_loop(loops)
        if innermost is None:
            return 0.0
        if innermost is vector:
            return self._unrolled_latency(statement, loops, innermost)
        is_repeated = statement.rewrites(loops, innermost)
        waits = self._wait(statement, loops, innermost)
        if not waits:
            return 0.0
        if vector is None and not is_repeated and self._is_left_in_memory(loops, innermost):
            waits += self._program.machine.store_forwarding
        trips = statement.trips(loops)
        chains = prod(
            min(loop.unroll or count, count) / (lanes if loop is vector else 1)
            for loop, count in zip(loops, trips, strict=True)
            if loop.unroll is not None
            and loop is not innermost
            and not (is_repeated and statement.rewrites(loops, loop))
        )
        size = self._vector_loops.size(statement, loops, place_of(innermost, loops))
        length = _chain(statement, loops, trips) * size
        # Short chains that follow each other overlap.
        return waits / max(1.0, chains, self._program.machine.reorder_window / length)

    def _is_left_in_memory(self, loops: tuple[Loop, ...], innermost: Loop) -> bool:
        """Whether what an iteration hands on is loaded again: LLVM has unrolled the loops inside.

        Where the schedule unrolls them, copies hand it on in registers.
        """
        inside = loops[place_of(innermost, loops) + 1 :]
        return bool(inside) and not any(map(self._program.unrolls, inside))

    def _latency_in_order(
        self,
        statement: StatementStatistics,
        loops: tuple[Loop, ...],
        vector: Loop | None,
        lanes: float,
    ) -> float:
        """Cycles per vector of terms that LLVM adds to a sum one by one."""
        if vector is None or vector.vector is not None:
            return 0.0
        is_ordered = statement.statement.name in self._vector_loops.ordered_sums(vector, loops)
        return is_ordered * lanes * self._program.machine.latencies["additions"]

    def _wait(self, statement: StatementStatistics, loops: tuple[Loop, ...], loop: Loop) -> float:
        """Cycles that an iteration of a loop waits for the one before: of a sum, or of a value."""
        schedule, name = self._program.schedule, statement.statement.name
        accumulation = schedule.dependences.accumulations.get(name)
        if statement.rewrites(loops, loop) and accumulation is not None:
            last = accumulation.steps[-1]
            return float(self._program.machine.latencies[operation_class(type(last), last)])
        # Loops that are unrolled are copies.
        around = loops_around(schedule.tree, name)[place_of(loop, loops)]
        names = statements(around.body)
        if len(names) > MOST_TOGETHER or any(loops_of(around.body)):
            names = (name,)
        known = self._recurrences.get((around, names))
        if known is None:
            known = self._recurrences[around, names] = recurrence(schedule, names, around)
        return known

    def _unrolled_latency(
        self, statement: StatementStatistics, loops: tuple[Loop, ...], vector: Loop
    ) -> float:
        """Cycles per vector of chains that are all in one iteration of the vector loop, as of sums.

        Those of several iterations overlap: those that are unrolled, or as many as are under way.
        """
        trips = statement.trips(loops)
        chain = [
            (loop, count)
            for loop, count in zip(loops, trips, strict=True)
            if loop is not vector and loop.unroll == 0 and statement.rewrites(loops, loop)
        ]
        terms = prod(count for _, count in chain)
        if terms <= 1:
            return 0.0
        machine = self._program.machine
        copies = prod(
            min(loop.unroll or count, count)
            for loop, count in zip(loops, trips, strict=True)
            if loop.unroll is not None and loop is not vector and (loop, count) not in chain
        )
        interleaved = (vector.unroll or 1) if vector.vector is not None else INTERLEAVED
        size = self._vector_loops.size(statement, loops, place_of(vector, loops) + 1)
        under_way = machine.reorder_window / (terms * size)
        side_by_side = max(1.0, interleaved * copies, under_way)
        return self._wait(statement, loops, chain[-1][0]) / side_by_side


def _scalar_bits(statement: Statement, vector: Loop | None) -> int | None:
    """Bits of sums and extrema of short integers where LLVM makes the vectors; None elsewhere."""
    arrays = [access.array for access in statement.accesses]
    kinds = [array.element_type for array in arrays if not is_scalar(array)]
    if vector is None or vector.vector is not None or len(kinds) == len(arrays):
        return None
    return max((2 * 8 * bytes_of(kind) for kind in kinds), default=None)


def _chain(
    statement: StatementStatistics, loops: tuple[Loop, ...], trips: tuple[float, ...]
) -> float:
    """Instances, one after the other, of which each waits for the one before; at least.

    Those of the innermost loop, and of loops around it that write the same elements again.
    """
    length = 1.0
    for loop, count in zip(reversed(loops), reversed(trips), strict=True):
        if loop.unroll == 0:
            continue
        if length > 1 and not statement.rewrites(loops, loop):
            break
        length *= count
    return length


def _repeats(
    loops: Sequence[Loop],
    trips: Sequence[float],
    vector: Loop | None,
    lanes: float,
    changing: frozenset[int],
) -> tuple[float, float]:
    """Vectors of instances that share what changes in so many of the loops, and lanes that do it.

    LLVM moves it out of the innermost loops in which it is always the same.
    """
    shared = 1.0
    for position in reversed(range(len(loops))):
        loop, count = loops[position], trips[position]
        if position in changing:
            if loop.unroll == 0:
                continue
            break
        shared *= max(1.0, count / lanes) if loop is vector else count
        if loop is vector:
            lanes = 1.0
    return shared, lanes


def _adds_on_conditions(statement: StatementStatistics, loops: Sequence[Loop]) -> bool:
    """Whether a statement sums up selected terms along one of the loops."""
    *terms, store = statement.statement.body
    return (
        any(isinstance(op, arith.SelectOp) for op in terms)
        and not isinstance(store.operands[0].owner, arith.SelectOp)
        and any(statement.rewrites(loops, loop) for loop in loops)
    )
