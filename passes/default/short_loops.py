"""The short loops of a nest, and the long ones right around them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from ..estimate.program_statistics import ProgramStatistics
from ..polyhedral.schedule_tree import Loop, Tree, leaves
from ..schedules.schedule import Schedule
from ..transformations.unroll import Unroll

LONGEST = 8
"""Iterations of a loop that is unrolled fully."""


@dataclass(frozen=True)
class ShortLoops:
    """Loops with a statement in each: the short ones, and the innermost of the others."""

    short: tuple[tuple[str, Loop], ...]
    around: tuple[tuple[str, Loop], ...]

    def unrolled(self, schedule: Schedule) -> Schedule:
        """The schedule with all short loops unrolled fully; raises TransformationError."""
        for statement, loop in self.short:
            schedule = schedule.apply(Unroll((f"{statement}.{loop.name}",)))
        return schedule


def short_loops(nest: Tree, statistics: ProgramStatistics, most: int) -> ShortLoops | None:
    """Those whose bodies are copied at most so many times; None where a statement has no others.

    Nor where there are none, some have marks, or one is short for one statement alone.
    """
    short: dict[int, tuple[str, Loop]] = {}
    around: dict[int, tuple[str, Loop]] = {}
    for leaf, outer in leaves(nest):
        trips = statistics.statements[leaf.statement].trips(outer)
        depth = len(outer)
        while depth and trips[depth - 1] <= LONGEST and prod(trips[depth - 1 :]) <= most:
            depth -= 1
        if not depth or any(loop.is_marked for loop in outer):
            return None
        short |= _with(leaf.statement, outer[depth:])
        around |= _with(leaf.statement, outer[depth - 1 : depth])
    if not short or short.keys() & around.keys():
        return None
    return ShortLoops(tuple(short.values()), tuple(around.values()))


def _with(statement: str, loops: Iterable[Loop]) -> dict[int, tuple[str, Loop]]:
    return {id(loop): (statement, loop) for loop in loops}
