"""Memory traffic: the bytes that cross each level of the memory hierarchy.

Of a loop whose body fits in a cache, every line crosses once; otherwise once per iteration. A
program whose arrays fit in a cache finds them there, from the run before or from what has written
them; each of several threads its part of them in the caches of its core.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from math import inf, log, prod

from ..polyhedral.schedule_tree import Leaf, Loop, Tree, leaves, statements
from ..polyhedral.scop import Access
from .contiguous_runs import contiguous_run, rows_together
from .footprints import footprint
from .program_statistics import StatementStatistics, subscript_steps
from .scheduled_program import ScheduledProgram


class MemoryTraffic:
    """The traffic of a program, with cached footprints."""

    def __init__(self, program: ScheduledProgram) -> None:
        self._program = program
        self._statistics = program.statistics
        self._footprints: dict[int, float] = {}

    def seconds(self, nest: Loop) -> Iterator[float]:
        """Seconds that each level of the memory hierarchy needs for a nest."""
        machine = self._program.machine
        threads = self._mean_threads(nest)
        part, touched = self._size_of_part(nest, threads), sum(self._touched_bytes.values())
        streams, runs = self._streams(nest), self._runs(nest)
        unseen = _share_before_prefetching(runs, machine.stream_start)
        for level, bandwidth in machine.bandwidths.items():
            is_shared = level == max(machine.caches)
            whole, size = (self._size,) * 2 if is_shared else (touched, part)
            if size <= machine.capacity(level):
                yield 0.0
                continue
            limit, speed = inf, bandwidth * threads
            traffic = self._into(nest, (), machine.capacity(level), whole / max(1.0, size))
            if level == max(machine.bandwidths):
                traffic += self._write_allocated(nest)
                faster = min(1, log(streams, machine.streams))
                limit, speed = machine.memory_bandwidth, speed * (1 + faster)
            if level > 1:
                # Several runs that begin at the same time wait together.
                waiting = (machine.unseen_stream - 1) / max(1.0, streams / 2)
                short = _mean_shortfall(runs, machine.shortest_run) if level > 2 else 0.0
                speed /= 1 + unseen * waiting + short
            yield traffic / min(limit, speed)

    @cached_property
    def _size(self) -> int:
        """Bytes of all arrays: what they need in a cache that is shared.

        Whole, as prefetchers go on behind the end of short rows: of a matrix of 32 MB, a triangle
        comes from a cache of 32 MB at half of its bandwidth (measured on a Zen 4).
        """
        return sum(map(self._statistics.bytes, self._program.schedule.scop.arrays))

    @cached_property
    def _touched_bytes(self) -> Mapping[str, float]:
        """Bytes of each array, whole where subscripts are unknown.

        Triangles and short loops leave a part of arrays out.
        """
        accesses, whole = list[tuple[Access, tuple[float, ...]]](), dict[str, float]()
        for statement in self._statistics.statements.values():
            for access, spans in _with_spans(statement, ()):
                accesses.append((access, spans))
                if access.is_opaque or access.unknown:
                    whole[access.array.name] = self._statistics.bytes(access.array)
        line = self._program.machine.cache_line
        return {**footprint(self._statistics, accesses, line), **whole}

    def _size_of_part(self, nest: Loop, threads: float) -> float:
        """Bytes that a core touches and finds in its own caches, where threads share a nest.

        Each has a part of every array but those that it reads all of.
        """
        whole = {
            access.array.name
            for leaf, loops in leaves(nest, ())
            for access in self._program.statement(leaf.statement).statement.accesses
            if not any(self._is_shared_out(leaf.statement, access, loops, each) for each in loops)
        }
        return sum(
            size / (1 if name in whole else threads) for name, size in self._touched_bytes.items()
        )

    def _is_shared_out(
        self, name: str, access: Access, loops: tuple[Loop, ...], loop: Loop
    ) -> bool:
        """Whether a loop is parallel and an access moves along it."""
        direction = self._program.statement(name).motion(loops, loop) if loop.parallel else None
        return direction is not None and any(subscript_steps(access, direction))

    def _runs(self, nest: Loop) -> Collection[tuple[float, float]]:
        """Bytes of the contiguous runs in which each large array is walked through, and of it."""
        large = self._program.machine.capacity(2)
        runs: dict[str, tuple[float, float]] = {}
        for leaf, loops in leaves(nest, ()):
            outer = {id(loop): loops[:depth] for depth, loop in enumerate(loops)}

            def is_cached(loop: Loop, outer: Mapping[int, tuple[Loop, ...]] = outer) -> bool:
                return self._footprint(loop, outer[id(loop)]) <= large

            statistics = self._program.statement(leaf.statement)
            for access in statistics.statement.accesses:
                size = self._statistics.bytes(access.array)
                if size > large:
                    rows = rows_together(statistics, access)
                    run = contiguous_run(self._program, statistics, access, loops, rows, is_cached)
                    longest = max(run, runs.get(access.array.name, (0.0, 0.0))[0])
                    runs[access.array.name] = longest, size
        return runs.values()

    def _write_allocated(self, nest: Loop) -> float:
        """Bytes that are read from memory only because a part of their line is written.

        Explicit vectors go past the caches where an array is larger than these.
        """
        if self._program.is_explicit:
            return 0.0
        members, scop = statements(nest), self._program.schedule.scop
        read = {a.array for s in scop.statements for a in s.reads}
        here = {a.array for name in members for a in self._program.statement(name).statement.writes}
        sizes = (self._statistics.bytes(array) for array in here - read)
        return sum(size for size in sizes if size > self._program.machine.last_cache)

    def _streams(self, nest: Loop) -> float:
        """How many places of large arrays the innermost code walks through at the same time."""
        large = self._program.machine.caches.get(2, 0)
        found: dict[str, float] = {}
        for leaf, loops in leaves(nest, ()):
            statistics = self._program.statement(leaf.statement)
            jammed = [
                (direction, count)
                for loop, count in zip(loops, statistics.trips(loops), strict=True)
                if loop.unroll == 0 and (direction := statistics.direction(loops, loop)) is not None
            ]
            for access in statistics.statement.accesses:
                if self._statistics.bytes(access.array) < large:
                    continue
                rows = prod(
                    count
                    for direction, count in jammed
                    if abs(statistics.stride(access, direction, self._statistics)) > 1
                )
                found[access.array.name] = max(found.get(access.array.name, 1.0), rows)
        return max(1.0, sum(found.values()))

    def _mean_threads(self, nest: Loop) -> float:
        """The threads that share the statements of a nest, by the time that these take alone."""
        program = self._program
        shares = [
            (each.work, program.threads(each, outer))
            for leaf, outer in leaves(nest, ())
            for each in [program.statement(leaf.statement)]
        ]
        alone = sum(work for work, _ in shares)
        shared = sum(work / threads for work, threads in shares)
        return alone / shared if shared else 1.0

    def _into(self, tree: Tree, outer: tuple[Loop, ...], capacity: float, caches: float) -> float:
        """Bytes that a tree moves into a cache of that capacity, when the cache is cold.

        Threads that share the loops in the body of a loop have a part of it in so many `caches`.
        """
        touched = self._footprint(tree, outer)
        if touched <= capacity or isinstance(tree, Leaf):
            return touched
        if not isinstance(tree, Loop):
            return sum(self._into(child, outer, capacity, caches) for child in tree.children)
        inside = (*outer, tree)
        together = 1.0 if any(loop.parallel for loop in inside) else caches
        if self._footprint(tree.body, inside) <= capacity * together:
            return touched
        trips = max(self._program.statement(name).trips(inside)[-1] for name in tree.schedule)
        trips = max(1.0, trips / (tree.vector or 1))
        return trips * self._into(tree.body, inside, capacity, caches)

    def _footprint(self, tree: Tree, outer: tuple[Loop, ...]) -> float:
        """Bytes of the arrays that an execution of a tree touches."""
        found = self._footprints.get(id(tree))
        if found is None:
            accesses = [
                each
                for name in statements(tree)
                for each in _with_spans(self._program.statement(name), outer)
            ]
            by_array = footprint(self._statistics, accesses, self._program.machine.cache_line)
            found = self._footprints[id(tree)] = sum(by_array.values())
        return found

    def touched(self, nest: Tree) -> Mapping[str, float]:
        """Bytes of each array that a top-level nest touches."""
        accesses = [
            each
            for name in statements(nest)
            for each in _with_spans(self._program.statement(name), ())
        ]
        return footprint(self._statistics, accesses, self._program.machine.cache_line)


def _with_spans(
    statement: StatementStatistics, outer: tuple[Loop, ...]
) -> Iterator[tuple[Access, tuple[float, ...]]]:
    """The accesses of a statement, with the spans of their iterators inside of loops."""
    spans: dict[tuple[int, ...], tuple[float, ...]] = {}
    for access in statement.statement.accesses:
        used = statement.own_iterators(access)
        if used not in spans:
            spans[used] = statement.spans_inside(outer, used)
        yield access, spans[used]


def _share_before_prefetching(runs: Collection[tuple[float, float]], start: float) -> float:
    """The share of arrays that is read before the prefetchers see a stream.

    They see a run `start` bytes after it has begun. An array of `size` bytes has `size / run` runs,
    of which the first one is not found late.
    """
    whole = sum(size for _, size in runs)
    late = sum(min(size, start * (size / run - 1)) for run, size in runs)
    return max(0.0, late / whole) if whole else 0.0


def _mean_shortfall(runs: Collection[tuple[float, float]], shortest: float) -> float:
    """How much longer runs would have to be to have `shortest` bytes, in lengths of their own.

    The mean over all bytes of the arrays; 0 where no run is shorter.
    """
    whole = sum(size for _, size in runs)
    return sum(size * max(0.0, shortest / run - 1) for run, size in runs) / whole if whole else 0.0
