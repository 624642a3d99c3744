"""Strategy: loops of small problems without loops in their bodies, as scalars: small inverses."""

from __future__ import annotations

from math import prod

from ..estimate.local_extents import stored_statistics
from ..estimate.program_statistics import ProgramStatistics, is_scalar
from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Tree, leaves, statements
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from .outermost_parallel import mark_parallel
from .short_loops import short_loops

MOST_COPIES = 256
"""Instances of a statement in the body."""

LEAST_OPERATIONS, MOST_OPERATIONS = 256, 2048
"""In all copies. LLVM unrolls smaller bodies by itself."""


def unrolled_bodies(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Schedule | None:
    """Unrolls all loops inside of the innermost long ones around local arrays, for registers.

    for q:                                            for q:
      for k < 3: for i < 3: for j < 6:        ->        m[0][0] -= ...; m[0][1] -= ...
        m[i][j] -= m[i][k] * m[k][j]
    """
    statistics = stored_statistics(schedule, context)
    found = short_loops(nest, statistics, MOST_COPIES)
    if found is None or not _computes_locally(nest, statistics):
        return None
    short = {id(loop) for _, loop in found.short}
    operations = 0.0
    for leaf, outer in leaves(nest):
        statement = statistics.statements[leaf.statement]
        trips = zip(outer, statement.trips(outer), strict=True)
        copies = prod(count for loop, count in trips if id(loop) in short)
        operations += copies * len(statement.statement.body)
    if not LEAST_OPERATIONS <= operations <= MOST_OPERATIONS:
        return None
    try:
        return mark_parallel(found.unrolled(schedule), statements(nest), context)
    except TransformationError:
        return None


def _computes_locally(nest: Tree, statistics: ProgramStatistics) -> bool:
    """Whether what is computed from several values is in local arrays, not all of them scalars."""
    members = [statistics.statements[name].statement for name in statements(nest)]
    computing = [each for each in members if len(each.reads) > 1]
    arrays = [access.array for each in computing for access in each.accesses]
    return all(array.is_local for array in arrays) and not all(map(is_scalar, arrays))
