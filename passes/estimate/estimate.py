"""Estimates how long a program takes under a schedule, to choose between a few candidates.

Two limits, per top-level nest: the operations that the vector units, load and store ports execute,
and the bytes that cross each level of the memory hierarchy (of a loop whose body fits in a cache,
every line crosses once; otherwise once per iteration). The larger one counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from math import inf, log, log2, prod

import islpy as isl

from ..polyhedral.counting import fix_parameters
from ..polyhedral.schedule_tree import Leaf, Loop, Tree, leaves, statements
from ..polyhedral.scop import Access, AccessKind
from ..schedules.program_edits import outer_values
from ..schedules.schedule import Schedule
from .operation_costs import Changes, accumulates_in_lanes, recurrence, throughput
from .program_statistics import CACHE_LINE, StatementStatistics, footprint, subscript_steps
from .scheduling_context import SchedulingContext

GATHER = 6.0
"""Loads of single elements that one element of a gather is worth, even in the nearest cache."""

MASKED = 2.0
"""Whole vectors that one is worth of which only some lanes count."""

GUARD = 2.0
"""Cycles for the conditions of statements that share a loop, but not all of its iterations."""

WINDOW = 256.0
"""Operations that a core has under way: short chains that follow each other overlap."""

FEWEST_COLUMNS = 0.25
"""Gathers of neighbouring columns are done together from so many on, as a share of their rows."""


def estimate(schedule: Schedule, context: SchedulingContext) -> float:
    """Seconds that the program takes, roughly."""
    forks = context.threads > 1 and any(True for _ in _parallel(schedule.tree, ()))
    return (
        _Estimator(schedule, context).seconds(schedule.tree) + schedule.target.speeds.wake * forks
    )


class _Estimator:
    def __init__(self, schedule: Schedule, context: SchedulingContext) -> None:
        self.schedule = schedule
        self.context = context
        self.speeds = schedule.target.speeds
        self.statistics = context.statistics(schedule.scop)
        self.accumulating = schedule.dependences.accumulations
        self.in_step: dict[int, bool] = {}
        self.touched: dict[int, float] = {}
        self.explicit = all(
            any(loop.vector is not None for loop in loops)
            for _, loops in leaves(schedule.tree, ())
            if loops
        )

    @property
    def _crossing(self) -> float:
        """Accesses to the cache for a vector that begins anywhere: it may cross a line's end."""
        return 1 + self.schedule.target.vector_bits / 8 / CACHE_LINE

    def seconds(self, tree: Tree) -> float:
        """Of a whole tree: its top-level nests one after the other."""
        if isinstance(tree, Leaf):
            return 0.0
        if not isinstance(tree, Loop):
            return sum(self.seconds(child) for child in tree.children)
        members = tuple(id(self.statistics.statements[name].statement) for name in tree.schedule)
        key = id(tree), self.explicit, self.schedule.reassociate, members
        if key not in self.context.nests:
            self.context.nests[key] = tree, self._seconds_of_nest(tree)
        return self.context.nests[key][1]

    def _seconds_of_nest(self, tree: Loop) -> float:
        computing = sum(self._computing(leaf, outer) for leaf, outer in leaves(tree, ()))
        forks = sum(self._forks(loop, outer) for loop, outer in _parallel(tree, ()))
        return max(computing, *self._memory(tree)) + forks * self.speeds.fork

    def _forks(self, loop: Loop, outer: tuple[Loop, ...]) -> float:
        statement = self.statistics.statements[next(iter(loop.schedule))]
        return prod(statement.trips(outer)) if self.context.threads > 1 else 0.0

    def _threads(self, statement: StatementStatistics, loops: Sequence[Loop]) -> float:
        parallel = [
            trips
            for loop, trips in zip(loops, statement.trips(loops), strict=True)
            if loop.parallel
        ]
        return min(self.context.threads, prod(parallel)) if parallel else 1.0

    def _computing(self, leaf: Leaf, loops: tuple[Loop, ...]) -> float:
        """Seconds for the instances of a statement if all data were in the nearest cache."""
        statistics = self.statistics.statements[leaf.statement]
        if not statistics.instances:
            return 0.0
        vector = self._vector_loop(loops)
        guarded = vector is not None and not self._in_step(vector, loops)
        if guarded:
            vector = None
        trips = statistics.trips(loops)
        lanes = 1.0
        if vector is not None:
            along = next(t for loop, t in zip(loops, trips, strict=True) if loop is vector)
            if vector.vector is None and along < self._width(statistics, vector):
                vector = None  # LLVM writes such a loop out.
            else:
                lanes = self._lanes(statistics, vector, along)
        operations = throughput(
            statistics.statement,
            self.schedule.target,
            self._changes(statistics, loops),
            partial(_repeats, loops, trips, vector, lanes),
            lanes=lanes,
            reassociate=self.schedule.reassociate,
        )
        costs = dict.fromkeys(AccessKind, 0.0)
        for access in statistics.statement.accesses:
            costs[access.kind] += self._cost(access, statistics, loops, trips, vector, lanes)
        cycles = GUARD * guarded + max(
            operations,
            costs[AccessKind.READ] / 2,
            costs[AccessKind.WRITE],
            self._latency(statistics, loops, vector),
        )
        return (
            statistics.instances
            / lanes
            * cycles
            / self.speeds.hertz
            / self._threads(statistics, loops)
        )

    def _changes(self, statement: StatementStatistics, loops: tuple[Loop, ...]) -> Changes:
        """In which of the loops around a statement a load may differ between iterations.

        Those of local arrays wrap around in tiles, which their slopes do not show.
        """
        directions = [statement.direction(loops, loop) for loop in loops]
        written = [
            {
                write.array.name
                for name in loop.schedule
                for write in self.statistics.statements[name].statement.writes
            }
            for loop in loops
        ]

        def positions(load: Access) -> frozenset[int]:
            return frozenset(
                position
                for position, direction in enumerate(directions)
                if direction is None
                or load.array.is_local
                or load.array.name in written[position]
                or any(subscript_steps(load, direction))
            )

        return positions

    def _vector_loop(self, loops: tuple[Loop, ...]) -> Loop | None:
        """The loop that runs in lanes: as marked, or the innermost one where LLVM may do it."""
        marked = next((loop for loop in loops if loop.vector is not None), None)
        innermost = _innermost(loops)
        if marked is not None or innermost is None or self.explicit:
            return marked
        is_free = self.schedule.is_coincident(innermost) or (
            self._may_reassociate(innermost) and self._only_sums(innermost)
        )
        return innermost if is_free else None

    def _may_reassociate(self, loop: Loop) -> bool:
        """Whether LLVM makes vectors of the terms of all that is accumulated in a loop."""
        return all(
            accumulates_in_lanes(self.schedule, name)
            for name in loop.schedule
            if name in self.accumulating
        )

    def _only_sums(self, loop: Loop) -> bool:
        """Whether all that iterations of a loop hand on is what statements accumulate."""
        legality = self.schedule.legality
        inside = self._domain(loop)
        active = (
            legality.active(self.schedule.functions_around(loop))
            .intersect_domain(inside)
            .intersect_range(inside)
        )
        crossing = active.subtract(active.eq_at_multi_union_pw_aff(legality.function(loop).multi))
        for name in loop.schedule:
            if name in self.accumulating:
                crossing = crossing.subtract(isl.UnionMap.from_map(self.accumulating[name].pairs))
        return crossing.is_empty()

    def _domain(self, loop: Loop) -> isl.UnionSet:
        parts = [self.statistics.statements[name].statement.domain for name in loop.schedule]
        return reduce(isl.UnionSet.union, map(isl.UnionSet.from_set, parts))

    def _in_step(self, loop: Loop, loops: tuple[Loop, ...]) -> bool:
        """Whether all statements of a vector loop run in the same iterations, without guards."""
        if len(loop.schedule) == 1:
            return True
        found = self.in_step.get(id(loop))
        if found is None:
            around = loops[: next(n for n, other in enumerate(loops) if other is loop) + 1]
            first, *others = (self._iterations(name, around) for name in loop.schedule)
            found = self.in_step[id(loop)] = all(first.is_equal(other) for other in others)
        return found

    def _iterations(self, name: str, loops: Sequence[Loop]) -> isl.Set:
        """The values that the loops around a statement take together."""
        values = outer_values(loops, self.statistics.statements[name].statement).range()
        return fix_parameters(values, self.context.sizes)

    def _is_sum(self, statement: StatementStatistics, loops: tuple[Loop, ...]) -> bool:
        """Whether the innermost loop adds up into one element."""
        innermost = _innermost(loops)
        direction = None if innermost is None else statement.direction(loops, innermost)
        return direction is not None and all(
            statement.stride(access, direction, self.statistics) == 0
            for access in statement.statement.writes
        )

    def _width(self, statement: StatementStatistics, loop: Loop) -> int:
        """The lanes of a vector along a loop."""
        return loop.vector or min(
            self.schedule.target.lanes(access.array.element_type)
            for access in statement.statement.accesses
        )

    def _lanes(self, statement: StatementStatistics, loop: Loop, trips: float) -> float:
        """Instances per vector, on average."""
        width = self._width(statement, loop)
        whole, rest = divmod(trips, width)
        # What is left of a vector is masked: that takes longer than a whole one.
        return max(1.0, trips / max(1.0, whole + MASKED * (rest > 0)))

    def _cost(
        self,
        access: Access,
        statement: StatementStatistics,
        loops: tuple[Loop, ...],
        trips: tuple[float, ...],
        vector: Loop | None,
        lanes: float,
    ) -> float:
        """Loads or stores per vector of instances: fewer where a register is used again."""
        cost = 1.0
        innermost = _innermost(loops)
        for loop, count in zip(loops, trips, strict=True):
            direction = statement.direction(loops, loop)
            stride = (
                1 if direction is None else statement.stride(access, direction, self.statistics)
            )
            if loop is vector:
                if stride not in (0, 1):
                    cost *= self._gathering(access, statement, loops, trips, lanes)
                elif stride and not access.array.is_local:
                    cost *= self._crossing
            elif stride == 0 and (loop is innermost or loop.unroll == 0):
                cost /= max(1.0, count)
            elif stride == 0 and loop.unroll:
                cost /= min(loop.unroll, max(1.0, count))
        return cost

    def _gathering(
        self,
        access: Access,
        statement: StatementStatistics,
        loops: tuple[Loop, ...],
        trips: tuple[float, ...],
        lanes: float,
    ) -> float:
        """What a vector of elements from as many rows costs: an access to each one, as a rule.

        Where neighbouring columns are read together, rows are loaded and transposed.
        """
        columns = 1.0
        for loop, count in zip(loops, trips, strict=True):
            direction = statement.direction(loops, loop) if loop.unroll == 0 else None
            if direction is not None and statement.stride(access, direction, self.statistics) == 1:
                columns = max(columns, min(lanes, count))
        if access.kind is AccessKind.WRITE:
            return lanes
        if columns < max(2.0, FEWEST_COLUMNS * lanes):
            return GATHER * lanes
        return lanes / columns + log2(lanes)

    def _latency(
        self, statement: StatementStatistics, loops: tuple[Loop, ...], vector: Loop | None
    ) -> float:
        """Cycles per vector of instances that a chain of dependent operations takes at least."""
        innermost = _innermost(loops)
        if innermost is None or innermost is vector:
            return 0.0
        waits = (
            float(self.speeds.latency)
            if self._is_sum(statement, loops)
            else recurrence(self.schedule, statement.statement.name, innermost)
        )
        if not waits:
            return 0.0
        trips = statement.trips(loops)
        chains = prod(
            min(loop.unroll or count, count)
            for loop, count in zip(loops, trips, strict=True)
            if loop.unroll is not None and loop is not vector and loop is not innermost
        )
        length = self._chain(statement, loops, trips) * len(statement.statement.body)
        return waits / max(1.0, chains, WINDOW / length)

    def _chain(
        self, statement: StatementStatistics, loops: tuple[Loop, ...], trips: tuple[float, ...]
    ) -> float:
        """Instances, one after the other, of which each waits for the one before; at least.

        Those of the innermost loop, and of loops around it that write the same elements again.
        """
        length = 1.0
        for loop, count in zip(reversed(loops), reversed(trips), strict=True):
            if loop.unroll == 0:
                continue
            direction = statement.direction(loops, loop)
            if length > 1 and (
                direction is None
                or any(any(subscript_steps(a, direction)) for a in statement.statement.writes)
            ):
                break
            length *= count
        return length

    def _memory(self, nest: Loop) -> Iterator[float]:
        """Seconds that each level of the memory hierarchy needs for a nest."""
        speeds = self.speeds
        threads = max(
            self._threads(self.statistics.statements[leaf.statement], outer)
            for leaf, outer in leaves(nest, ())
        )
        for level, bandwidth in speeds.bandwidths.items():
            limit, speed = inf, bandwidth * threads
            traffic = self._traffic(nest, (), self.schedule.target.room(level))
            if level == max(speeds.bandwidths):
                traffic += self._overwritten(nest)
                faster = min(1, log(self._streams(nest), speeds.streams))
                limit, speed = speeds.memory, speed * (1 + faster)
            yield traffic / min(limit, speed)

    def _overwritten(self, nest: Loop) -> float:
        """Bytes that are read from memory only because a part of their line is written.

        Explicit vectors go past the caches where an array is larger than these.
        """
        if self.explicit:
            return 0.0
        caches, members = self.schedule.target.caches, statements(nest)
        read = {a.array for s in self.schedule.scop.statements for a in s.reads}
        here = {
            a.array for name in members for a in self.statistics.statements[name].statement.writes
        }
        sizes = (self.statistics.bytes(array) for array in here - read)
        return sum(size for size in sizes if size > caches.get(max(caches, default=0), 0))

    def _streams(self, nest: Loop) -> float:
        """How many places of large arrays the innermost code walks through at the same time."""
        large = self.schedule.target.caches.get(2, 0)
        found: dict[str, float] = {}
        for leaf, loops in leaves(nest, ()):
            statistics = self.statistics.statements[leaf.statement]
            jammed = [
                (direction, count)
                for loop, count in zip(loops, statistics.trips(loops), strict=True)
                if loop.unroll == 0 and (direction := statistics.direction(loops, loop)) is not None
            ]
            for access in statistics.statement.accesses:
                if self.statistics.bytes(access.array) < large:
                    continue
                rows = prod(
                    count
                    for direction, count in jammed
                    if abs(statistics.stride(access, direction, self.statistics)) > 1
                )
                found[access.array.name] = max(found.get(access.array.name, 1.0), rows)
        return max(1.0, sum(found.values()))

    def _traffic(self, tree: Tree, outer: tuple[Loop, ...], capacity: float) -> float:
        """Bytes that a tree moves into a cache of that capacity, when the cache is cold."""
        touched = self._touched(tree, outer)
        if touched <= capacity or isinstance(tree, Leaf):
            return touched
        if not isinstance(tree, Loop):
            return sum(self._traffic(child, outer, capacity) for child in tree.children)
        inside = (*outer, tree)
        if self._touched(tree.body, inside) <= capacity:
            return touched
        trips = max(self.statistics.statements[name].trips(inside)[-1] for name in tree.schedule)
        trips = max(1.0, trips / (tree.vector or 1))
        return trips * self._traffic(tree.body, inside, capacity)

    def _touched(self, tree: Tree, outer: tuple[Loop, ...]) -> float:
        """Bytes of the arrays that an execution of a tree touches."""
        found = self.touched.get(id(tree))
        if found is None:
            accesses = [
                (access, spans)
                for name in statements(tree)
                for spans in [self.statistics.statements[name].spans_inside(outer)]
                for access in self.statistics.statements[name].statement.accesses
            ]
            found = self.touched[id(tree)] = sum(footprint(self.statistics, accesses).values())
        return found


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


def _innermost(loops: Sequence[Loop]) -> Loop | None:
    """The innermost loop that is left when short loops are written out."""
    return next((loop for loop in reversed(loops) if loop.unroll != 0), None)


def _parallel(tree: Tree, outer: tuple[Loop, ...]) -> Iterator[tuple[Loop, tuple[Loop, ...]]]:
    """The outermost parallel loops with the loops around each."""
    match tree:
        case Loop(parallel=True):
            yield tree, outer
        case Loop(body=body):
            yield from _parallel(body, (*outer, tree))
        case Leaf():
            pass
        case _:
            for child in tree.children:
                yield from _parallel(child, outer)
