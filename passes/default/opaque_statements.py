"""Nests with statements that are not affine: the affine rest in vectors, outer loops parallel.

    for i:                                parallel i:
      opaque: y[i] from x[*]        ->      opaque: y[i] from x[*]
      for j: C[i, j] = ...                  for j, in vectors: C[i, j] = ...

Dependences are over-approximated: what they allow is legal whatever the data are.
"""

from __future__ import annotations

from ..estimate.local_extents import stored_statistics
from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Tree, loops_around, statements
from ..schedules.schedule import Schedule
from .outermost_parallel import mark_parallel
from .vectorise_and_parallelise import innermost_vector_loop


def opaque_statements(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Schedule:
    """The vector loops of affine statements, and the outermost loops that can run in parallel."""
    members = statements(nest)
    opaque = {name for name in members if schedule.scop.statement(name).is_opaque}
    statistics = stored_statistics(schedule, context)
    result = schedule
    for name in members:
        around = loops_around(result.tree, name)
        if around and opaque.isdisjoint(around[-1].schedule):
            result = innermost_vector_loop(result, name, statistics)
    return mark_parallel(result, members, context)
