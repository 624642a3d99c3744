"""Strategy: outer-loop vectorisation, the loops inside as they are: windows, small products."""

from __future__ import annotations

from ..estimate.elementary_functions import has_elementary_functions
from ..estimate.local_extents import stored_statistics
from ..estimate.loops_around import has_conditions, has_masks
from ..estimate.program_statistics import (
    ProgramStatistics,
    bytes_of,
    is_scalar,
)
from ..estimate.scheduling_context import SchedulingContext
from ..estimate.strided_accesses import LARGEST_STRIDE
from ..estimate.vector_widths import lanes_for
from ..polyhedral.schedule_tree import Loop, Tree, leaves, loops, statements
from ..polyhedral.scop import Access
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.vectorize import Vectorize
from .held_operands import with_held_operands
from .outermost_parallel import mark_parallel
from .wider_vectors import REGISTERS, widest_worth_it

FEWEST_TRIPS = 3
"""Iterations of a loop of which vectors are made."""

NEARBY = 2
"""The cache that the rows stay in that loops inside of vectors walk through."""


def outer_vectors(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Schedule | None:
    """Makes vectors of the innermost loops that have loops inside and that may run in lanes.

    for i:                                    parallel i:
      for j:                                    vector j:
        s = 0                           ->        s = 0
        for k: s += A[i, j + k]                   for k: s += A[i, j + k]
        B[i, j] = s                               B[i, j] = s

    Each lane has a sum of its own, in its order. Where bounds of the loops inside differ between
    lanes, masks say which run. Elementary functions get vectors of two registers. Sums, and what is
    computed from what the iteration before computed, get as many as are estimated to be best: each
    waits for the one before.
    """
    if any(loop.is_marked for loop in loops(nest)):
        return None
    statistics = stored_statistics(schedule, context)
    answers = [_scheduled(schedule, nest, each, statistics) for each in REGISTERS]
    known = [answer for answer in answers if answer is not None]
    if len(known) < len(answers):
        return None
    adds_up = not schedule.dependences.accumulations.keys().isdisjoint(statements(nest))
    best = widest_worth_it(known, context, adds_up=adds_up)
    members = statements(nest)
    return mark_parallel(with_held_operands(best, members, context), members, context)


def _scheduled(
    schedule: Schedule, nest: Tree, registers: int, statistics: ProgramStatistics
) -> Schedule | None:
    """Vectors of the loops of a nest, of so many registers for sums of enough iterations."""
    result = schedule
    done: set[str] = set()
    for leaf, outer in leaves(nest):
        if leaf.statement in done:
            continue
        for loop in reversed(outer):
            trips = statistics.statements[leaf.statement].trips(outer)[outer.index(loop)]
            if (
                trips >= FEWEST_TRIPS
                and any(loops(loop.body))
                and schedule.is_coincident(loop)
                and _walks_rows(schedule, loop, nest, statistics)
            ):
                break
        else:
            return None
        lanes = lanes_of(schedule, loop, statistics)
        width = lanes_for(lanes, trips, waits=_calls(schedule, loop))
        if _waits(loop, nest, statistics) and trips > registers * lanes / 2:
            width = max(width, registers * lanes)
        try:
            result = result.apply(Vectorize((f"{leaf.statement}.{loop.name}",), width))
        except TransformationError:
            return None
        done |= set(statements(loop.body))
    return result


def _waits(loop: Loop, nest: Tree, statistics: ProgramStatistics) -> bool:
    """Whether loops inside of a loop compute elements from what they were before: sums, steps."""
    for leaf, outer in leaves(nest):
        statement = statistics.statements[leaf.statement]
        read = {(access.array.name, access.map) for access in statement.statement.reads}
        if (
            loop in outer
            and any((each.array.name, each.map) in read for each in statement.statement.writes)
            and any(statement.rewrites(outer, each) for each in outer[outer.index(loop) + 1 :])
        ):
            return True
    return False


def _calls(schedule: Schedule, loop: Loop) -> bool:
    """Whether statements of a loop call elementary functions, in which instructions wait."""
    return any(
        has_elementary_functions(schedule.scop.statement(name), schedule.target)
        for name in statements(loop.body)
    )


def _walks_rows(
    schedule: Schedule, vector: Loop, nest: Tree, statistics: ProgramStatistics
) -> bool:
    """Whether lanes can run the same loops, are close together, and rows inside stay in a cache.

    Else lanes along another loop, or strips for the rows of a cache, are better.
    """
    target = schedule.target
    for leaf, outer in leaves(nest):
        if vector not in outer:
            continue
        statement = statistics.statements[leaf.statement]
        trips = dict(zip(map(id, outer), statement.trips(outer), strict=True))
        across = statement.direction(outer, vector)
        if across is None:
            return False
        if has_conditions(statement, outer, vector) and not has_masks(statement.statement, target):
            return False
        for access in statement.statement.accesses:
            if not _is_known(access, statistics):
                return False
            lanes = abs(statement.stride(access, across, statistics))
            if lanes > LARGEST_STRIDE:
                return False
            size = bytes_of(access.array.element_type)
            for inner in outer[outer.index(vector) + 1 :]:
                along = statement.direction(outer, inner)
                if along is None:
                    return False
                walked = abs(statement.stride(access, along, statistics)) * trips[id(inner)] * size
                if lanes and walked > target.capacity(NEARBY):
                    return False
    return True


def _is_known(access: Access, statistics: ProgramStatistics) -> bool:
    """Whether the extents of an array are known, and with them the strides in it."""
    if access.array.argument is None:
        return True
    extents = zip(statistics.extents(access.array), access.coefficients, strict=True)
    return all(extent > 1 or not any(row) for extent, row in extents)


def lanes_of(schedule: Schedule, loop: Loop, statistics: ProgramStatistics) -> int:
    """Lanes of a register for what the statements of a loop store."""
    writes = [
        write.array
        for name in statements(loop.body)
        for write in statistics.statements[name].statement.writes
    ]
    stored = [array for array in writes if not is_scalar(array)] or writes
    return min(schedule.target.lanes(array.element_type) for array in stored)
