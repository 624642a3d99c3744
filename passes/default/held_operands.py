"""Vector loops moved outside of loops along which operands stay the same: weights in registers."""

from __future__ import annotations

from collections.abc import Iterator

from ..estimate.estimate import estimate
from ..estimate.local_extents import stored_statistics
from ..estimate.program_statistics import ProgramStatistics, is_scalar
from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Loop, loops, loops_around, statements
from ..schedules.schedule import Schedule
from ..transformations.interchange import Interchange
from .steps import attempt

GAIN = 0.9
"""Operands in registers must be estimated to take this part of the time."""

FEWEST_ITERATIONS = 8
"""Of a loop along which operands are held: small matrices are better in lanes of their own."""


def with_held_operands(
    schedule: Schedule, members: tuple[str, ...], context: SchedulingContext
) -> Schedule:
    """Interchanges vector loops that have more inside with the loops around, if that is better.

    for i:                                    for i:
      for j:                                    vector k:
        vector k:                       ->        for j:
          for v: y[i, j, k] += w[v, k] * x[i, j + v, k]     (w[v, k] is loaded before j)

    Of weights, coefficients and the like in each lane, those that all iterations of a loop read are
    loaded once, and rows that the lanes share stay in the nearest cache.
    """
    statistics = stored_statistics(schedule, context)
    for name in members:
        step = _move(schedule, name, statistics)
        moved = None if step is None else attempt(schedule, step)
        if moved is not None and estimate(moved, context) < GAIN * estimate(schedule, context):
            schedule = moved
    return schedule


def _move(schedule: Schedule, name: str, statistics: ProgramStatistics) -> Interchange | None:
    """The vector loop whose first statement this is outside of the loop directly around it."""
    outer = loops_around(schedule.tree, name)
    place = next((k for k, loop in enumerate(outer) if loop.vector is not None), 0)
    if not place or outer[place - 1].body is not outer[place]:
        return None
    around, vector = outer[place - 1 : place + 1]
    if statistics.statements[name].trips(outer)[place - 1] < FEWEST_ITERATIONS:
        return None
    inside = list(statements(vector.body))
    has_more = len(inside) > 1 or any(loops(vector.body))
    if around.is_marked or not has_more or name != inside[0] or not schedule.is_coincident(around):
        return None
    held = {
        stride for each in inside for stride in _held(each, around, vector, schedule, statistics)
    }
    # LLVM does not move gathers out of a loop that stores.
    if held != {1}:
        return None
    return Interchange((f"{name}.{vector.name}", f"{name}.{around.name}"))


def _held(
    name: str, around: Loop, vector: Loop, schedule: Schedule, statistics: ProgramStatistics
) -> Iterator[int]:
    """How far the lanes are apart of what all iterations of the loop around read alike."""
    outer = loops_around(schedule.tree, name)
    statement = statistics.statements[name]
    along, across = (statement.direction(outer, loop) for loop in (around, vector))
    if along is None or across is None:
        return
    for read in statement.statement.reads:
        stride = abs(statement.stride(read, across, statistics))
        if stride and not is_scalar(read.array) and not statement.stride(read, along, statistics):
            yield stride
