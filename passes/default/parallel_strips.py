"""Strategy: strips of a parallel loop inside sequential ones, for threads."""

from __future__ import annotations

from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Loop, Tree, chain, loops_around
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.interchange import Interchange
from ..transformations.parallel import Parallel
from ..transformations.strip_mine import StripMine
from .thread_parts import part_size


def parallel_strips(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Schedule | None:
    """A strip for each thread of the outermost parallel loop, with all sequential loops inside.

    for i:                                    parallel for strip:
      for j:                            ->      for i:
        A[i, j] = f(A[i - 1, j])                  for j in strip:
                                                    A[i, j] = f(A[i - 1, j])
    """
    if context.threads < 2 or not isinstance(nest, Loop) or schedule.is_coincident(nest):
        return None
    band = chain(nest)
    found = next((k for k, loop in enumerate(band) if schedule.is_coincident(loop)), None)
    if found is None:
        return None
    name = next(iter(nest.schedule))
    statement = context.statistics(schedule.scop).statements[name]
    trips = statement.trips(band)[found]
    target = schedule.target
    lanes = max(target.lanes(a.array.element_type) for a in statement.statement.accesses)
    size = part_size(statement, band[found], trips, context.threads, lanes)
    try:
        cut = schedule.apply(StripMine((f"{name}.{band[found].name}",), size))
        outer = loops_around(cut.tree, name)[: found + 1]
        order = (outer[found], *outer[:found])
        moved = cut.apply(Interchange(tuple(f"{name}.{loop.name}" for loop in order)))
        return moved.apply(Parallel((f"{name}.{outer[found].name}",)))
    except TransformationError:
        return None
