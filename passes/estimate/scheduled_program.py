"""A scheduled program at given sizes: the common input of the estimate's parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, prod

from ...support.cached_property import cached_property
from ..machine.machine import Machine
from ..polyhedral.schedule_tree import Leaf, Loop, Tree, leaves
from ..polyhedral.schedule_tree import loops as all_loops
from ..schedules.schedule import Schedule
from .local_extents import stored_statistics
from .program_statistics import ProgramStatistics, StatementStatistics
from .scheduling_context import SchedulingContext

MANY = 16
"""Iterations for each thread of which one more or less for a thread does not count."""


@dataclass(frozen=True, eq=False)
class ScheduledProgram:
    """A schedule with sizes and threads."""

    schedule: Schedule
    context: SchedulingContext

    @property
    def machine(self) -> Machine:
        """The machine that the schedule is for."""
        return self.schedule.target

    @cached_property
    def statistics(self) -> ProgramStatistics:
        """What is known of the statements, and of local arrays as the schedule stores them."""
        return stored_statistics(self.schedule, self.context)

    @cached_property
    def is_explicit(self) -> bool:
        """Whether all innermost loops have explicit vectors, so that LLVM makes none."""
        return all(
            any(loop.vector is not None for loop in loops)
            for _, loops in leaves(self.schedule.tree, ())
            if loops
        )

    def stored_arrays(self, tree: Loop) -> tuple[tuple[str, tuple[int, ...], int | None], ...]:
        """The private arrays that a nest accesses, with their extents and innermost dimensions."""
        expanded, innermost = self.statistics.expanded, self.statistics.innermost
        if not expanded:
            return ()
        accesses = (a for name in tree.schedule for a in self.statement(name).statement.accesses)
        names = dict.fromkeys(access.array.name for access in accesses)
        return tuple(
            (name, expanded[name], innermost.get(name)) for name in names if name in expanded
        )

    def unrolls(self, loop: Loop) -> bool:
        """Whether a loop is unrolled by the schedule, and not only by LLVM."""
        return loop.unroll is not None and id(loop) in self._loops

    @cached_property
    def _loops(self) -> frozenset[int]:
        return frozenset(map(id, all_loops(self.schedule.tree)))

    def statement(self, name: str) -> StatementStatistics:
        """What is known of one statement."""
        return self.statistics.statements[name]

    def threads(self, statement: StatementStatistics, loops: Sequence[Loop]) -> float:
        """How many threads work at a time on the parallel loops around a statement, on average.

        Two threads run three iterations in the time of two: one and a half work.
        """
        parallel = [
            trips
            for loop, trips in zip(loops, statement.trips(loops), strict=True)
            if loop.parallel
        ]
        iterations, threads = float(prod(parallel)), self.context.threads
        if iterations >= MANY * threads or not iterations.is_integer():
            return min(threads, iterations)  # Of loops whose range varies, the average is known.
        return iterations / ceil(iterations / threads)

    def forks(self, loop: Loop, outer: tuple[Loop, ...]) -> float:
        """How often a parallel loop starts its threads: whenever one of its statements runs."""
        if self.context.threads == 1:
            return 0.0
        return max(prod(self.statement(name).trips(outer)) for name in loop.schedule)


def value_in_iterators(loop: Loop, statement: str) -> str:
    """A loop's value in terms of iterators, whatever the statement's name is."""
    return str(loop.schedule[statement]).rpartition("->")[2]


def innermost_loop(loops: Sequence[Loop]) -> Loop | None:
    """The innermost loop that is left when short loops are fully unrolled."""
    return next((loop for loop in reversed(loops) if loop.unroll != 0), None)


def outermost_parallel_loops(
    tree: Tree, outer: tuple[Loop, ...] = ()
) -> Iterator[tuple[Loop, tuple[Loop, ...]]]:
    """The outermost parallel loops with the loops around each."""
    match tree:
        case Loop(parallel=True):
            yield tree, outer
        case Loop(body=body):
            yield from outermost_parallel_loops(body, (*outer, tree))
        case Leaf():
            pass
        case _:
            for child in tree.children:
                yield from outermost_parallel_loops(child, outer)
