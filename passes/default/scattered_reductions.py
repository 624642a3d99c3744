"""Strategy: reductions in elements that depend on data, in a private copy for each thread.

    for i:                              parallel it:
      H[idx[i]] += w[i]           ->      for h: P[it, h] = 0
                                          for i in tile it: P[it, idx[i]] += w[i]
                                        for it: for h: H[h] += P[it, h]

A copy of the array for each thread pays where the array is small against the loop.
"""

from __future__ import annotations

from math import prod

from ..estimate.local_extents import stored_statistics
from ..estimate.parallel_profitability import LEAST_INSTANCES
from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Tree, loops_around, statements
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.distribute import Distribute
from ..transformations.parallel import Parallel
from ..transformations.rfactor import Rfactor
from ..transformations.strip_mine import StripMine
from ..transformations.vectorize import Vectorize
from .opaque_statements import opaque_statements
from .steps import added_statements, attempt
from .thread_parts import part_size

ELEMENT = 0.75
"""The time that an element of a copy takes to begin and to add up, in usual instances."""

GAIN = 0.9
"""The share of the time of one thread that copies must not exceed."""


def scattered_reductions(
    schedule: Schedule, nest: Tree, context: SchedulingContext
) -> Schedule | None:
    """Private copies for the reductions that have no parallel loop; None where none pays."""
    if context.threads == 1:
        return None
    members = statements(nest)
    result = opaque_statements(schedule, nest, context)
    is_changed = False
    for name in members:
        accumulation = result.dependences.accumulations.get(name)
        if accumulation is None or not accumulation.store.is_opaque:
            continue
        if not (accumulation.reassociable or result.reassociate):
            continue
        changed = _private(result, name, context)
        if changed is not None:
            result, is_changed = changed, True
    return result if is_changed else None


def _private(schedule: Schedule, name: str, context: SchedulingContext) -> Schedule | None:
    """Copies for the iterations of the outermost loop where they pay."""
    outer = loops_around(schedule.tree, name)
    if any(loop.parallel for loop in outer):
        return None
    statistics = stored_statistics(schedule, context)
    statement = statistics.statements[name]
    elements = prod(statistics.extents(statement.statement.writes[0].array))
    executions = 1.0
    for depth, (loop, trips) in enumerate(zip(outer, statement.trips(outer), strict=True)):
        work = statement.work / executions
        copied = work / context.threads + ELEMENT * context.threads * elements
        if trips >= context.threads and work >= LEAST_INSTANCES and copied <= GAIN * work:
            names = tuple(f"{name}.{each.name}" for each in outer[: depth + 1])
            size = part_size(statement, loop, trips, context.threads)
            apart = attempt(schedule, Distribute(names)) if len(loop.schedule) > 1 else None
            for start in (schedule, apart):
                found = None if start is None else _strips(start, name, names[-1], size)
                if found is not None:
                    return found
        executions *= trips
    return None


def _strips(schedule: Schedule, name: str, loop: str, size: int) -> Schedule | None:
    """A strip of a loop for each thread, with partial results for the strips."""
    strip = StripMine((loop,), size)
    (tile,) = (f"{name}.{each}" for each in strip.new_loops(schedule))
    try:
        result = schedule.apply_all([strip, Rfactor((tile,)), Parallel((tile,))])
    except TransformationError:
        return None
    for added in added_statements(schedule, result):
        last = loops_around(result.tree, added)[-1]
        result = attempt(result, Vectorize((f"{added}.{last.name}",))) or result
    return result
