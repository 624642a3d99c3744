"""Strategy: triangular solves (forward substitution) in strips of rows, sums in their order."""

from __future__ import annotations

from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Loop, Tree, leaves, loops_around
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.distribute import Distribute
from ..transformations.split import Split
from ..transformations.strip_mine import StripMine
from .matrix_vector import streams_rows
from .strict_order_reductions import in_lanes, lanes_of, row_sums, strip_of


def triangular_solve(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Schedule | None:
    """Strips of rows: what earlier strips have solved is added in vectors, the rest row by row.

    for i:                                for strips of 16 rows i:
      for j < i:                            for j before the strip: vector i in strip: S0
        S0: x[i] -= L[i, j] * x[j]   ->     for i in strip:
      S1: x[i] /= L[i, i]                     for j in strip, j < i: S0
                                              S1
    """
    if not isinstance(nest, Loop) or schedule.is_coincident(nest):
        return None
    if not streams_rows(schedule, (), nest, context):
        return None
    sums = row_sums(schedule, (), nest, context)
    lanes = lanes_of(schedule, (), nest, context)
    if len(sums) != 1 or lanes is None:
        return None
    (name,) = sums
    if schedule.reassociate and not _waits_for_rows(schedule, nest, name):
        return None
    names = [leaf.statement for leaf, _ in leaves(nest, ())]
    size = strip_of(lanes)
    strip = StripMine((f"{name}.{nest.name}",), size)
    try:
        (strips,) = strip.resolve(schedule).new_loops(schedule)
        stripped = schedule.apply(strip)
        inner = loops_around(stripped.tree, name)[-1].name
        before = tuple(names[: names.index(name) + 1])
        apart = stripped.apply_all(
            [
                Split((f"{name}.{inner}",), f"{size}{strips}"),
                Distribute((f"{name}.{nest.name}",), after=before),
            ]
        )
        return in_lanes(apart, name, nest.name, lanes)
    except TransformationError:
        return None


def _waits_for_rows(schedule: Schedule, nest: Loop, name: str) -> bool:
    """Whether terms of a sum are made of what the nest computes."""
    own = schedule.dependences.accumulations[name].load
    written = {
        write.array.name for s in nest.schedule for write in schedule.scop.statement(s).writes
    }
    reads = schedule.scop.statement(name).reads
    return any(read is not own and read.array.name in written for read in reads)
