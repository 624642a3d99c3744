"""Loops in blocks within which subscripts with quotients and remainders are affine."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from math import gcd, lcm

from ..estimate.program_statistics import ProgramStatistics
from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.rounded_subscripts import block_and_period, is_rounded
from ..polyhedral.schedule_tree import Loop, walk
from ..schedules.schedule import Schedule
from ..transformations.tile import Tile
from .short_loops import LONGEST
from .steps import attempt


def cut_at_rounding(schedule: Schedule, context: SchedulingContext) -> Schedule | None:
    """Innermost loops cut into periods of their subscripts, or blocks; None where there are none.

    for x: B[x] = A[x mod 2, x floordiv 2]      ->      for xt: for x in [2 xt, 2 xt + 2): ...

    Short periods are to be unrolled, so that subscripts move evenly along the loop around them.
    """
    statistics = context.statistics(schedule.scop)
    result = schedule
    for loop in walk(schedule.tree):
        if isinstance(loop, Loop) and not loop.loops_below:
            block, period = _rounding(loop, statistics)
            size = period if period <= LONGEST else block
            if size > 1:
                result = _cut(result, loop, size) or result
    return None if result is schedule else result


def in_blocks(schedule: Schedule, loops: Iterable[Loop], context: SchedulingContext) -> Schedule:
    """Loops cut into blocks within which all subscripts are affine.

    for c: B[c floordiv 8, c mod 8] = A[c]      ->      for ct: for c in [8 ct, 8 ct + 8): ...
    """
    statistics = context.statistics(schedule.scop)
    for loop in loops:
        block, _ = _rounding(loop, statistics)
        if block > 1:
            schedule = _cut(schedule, loop, block) or schedule
    return schedule


def _cut(schedule: Schedule, loop: Loop, size: int) -> Schedule | None:
    name = next(iter(loop.schedule))
    return attempt(schedule, Tile((f"{name}.{loop.name}",), (size,)))


def _rounding(loop: Loop, statistics: ProgramStatistics) -> tuple[int, int]:
    """The block and the period of a loop that is an iterator of its statements; else 1 and 1."""
    found: list[tuple[int, int]] = []
    for name in loop.schedule:
        statement = statistics.statements[name]
        maps = [each.map for each in statement.statement.accesses if not each.is_opaque]
        if not any(map(is_rounded, maps)):
            continue
        iterator = statement.iterator_of(loop)
        if iterator is None:
            return 1, 1
        found.append(block_and_period(maps, iterator))
    return reduce(gcd, (block for block, _ in found), 0), reduce(lcm, (p for _, p in found), 1)
