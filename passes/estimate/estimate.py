"""Analytical estimate of a schedule's execution time: a roofline for each top-level nest.

A nest takes as long as its operations in the cores (`in_core.py`), or its traffic through the level
of the memory hierarchy that is busiest (`memory_traffic.py`), whichever is longer, with a part of
the others, which do not wholly overlap with it, and starts its threads. So does each of several
stages of a nest (`stages.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..polyhedral.isl_context import ISL_LOCK
from ..polyhedral.schedule_tree import Leaf, Loop, Tree
from ..schedules.schedule import Schedule
from .false_sharing import shared_line_seconds
from .in_core import InCoreTime
from .memory_traffic import MemoryTraffic
from .roofline import roofline
from .scheduled_program import ScheduledProgram, outermost_parallel_loops
from .scheduling_context import SchedulingContext
from .stages import shares, stages

EXPOSED = 0.25
"""The part of operations and traffic that does not overlap with what bounds a nest.

Over 981 schedules of the field, run on a Granite Rapids, the first choice loses least with 0.1 to
0.3. Transfers do not overlap at all in Stengel, Treibig, Hager and Wellein, "Quantifying
performance bottlenecks of stencil computations using the execution-cache-memory model", 2015; in
the roofline, everything does.
"""

UNEVEN = 0.1
"""How much longer stages take for which threads wait after each strip: these do not come at the
same time (ten chains of stencils on a Granite Rapids)."""


def estimate(schedule: Schedule, context: SchedulingContext) -> float:
    """Seconds that the program takes, roughly."""
    wakes = context.threads > 1 and any(True for _ in outermost_parallel_loops(schedule.tree))
    return (
        _Estimator(ScheduledProgram(schedule, context)).seconds(schedule.tree)
        + schedule.target.thread_wake * wakes
    )


def nest_estimate(program: ScheduledProgram, nest: Loop) -> float:
    """Seconds that a top-level nest takes, roughly: with starting its threads."""
    return _Estimator(program).seconds(nest)


class Roofline:
    """The estimate as a `CostModel` of searches."""

    name = "roofline"

    def predict(self, context: SchedulingContext, schedules: Sequence[Schedule]) -> list[float]:
        """The estimated time of the program on one thread, over that of each schedule."""
        if not schedules:
            return []
        some = schedules[0]
        with ISL_LOCK:
            program = Schedule.original(some.program, some.target, reassociate=some.reassociate)
            base = estimate(program, SchedulingContext(context.sizes, 1))
            return [base / max(estimate(each, context), 1e-9) for each in schedules]


class _Estimator:
    def __init__(self, program: ScheduledProgram) -> None:
        self._program = program
        self._in_core = InCoreTime(program)
        self._traffic = MemoryTraffic(program)

    def seconds(self, tree: Tree) -> float:
        """Of a whole tree: its top-level nests one after the other."""
        if isinstance(tree, Leaf):
            return 0.0
        if not isinstance(tree, Loop):
            return sum(self.seconds(child) for child in tree.children)
        program = self._program
        members = tuple(id(program.statement(name)) for name in tree.schedule)
        stored = program.stored_arrays(tree)
        key = id(tree), program.is_explicit, program.schedule.reassociate, members, stored
        nests = program.context.nests
        if key not in nests:
            nests[key] = tree, self._seconds_of_nest(tree)
        return nests[key][1]

    def _seconds_of_nest(self, tree: Loop) -> float:
        parts = stages(tree)
        computing = self._in_core.nest_seconds(tree, parts)
        parallel = list(outermost_parallel_loops(tree))
        forks = sum(self._program.forks(loop, outer) for loop, outer in parallel)
        waiting = sum(shared_line_seconds(self._program, loop, outer) for loop, outer in parallel)
        transfers = list(self._traffic.seconds(tree))
        busy = sum(
            _overlapped(seconds, [share * each for each in transfers])
            for seconds, share in zip(computing, shares(self._program, parts), strict=True)
        )
        busy *= 1 + UNEVEN * (len(parts) > 1)
        return busy + waiting + forks * self._program.machine.fork_join


def _overlapped(computing: float, transfers: Sequence[float]) -> float:
    """Seconds of operations and of traffic that run at the same time for the most part."""
    bound = roofline(computing, transfers)
    return bound + EXPOSED * (computing + sum(transfers) - bound)
