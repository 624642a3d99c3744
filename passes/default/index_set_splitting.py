"""Strategy: index-set splitting at the pivot iteration (Floyd-Warshall)."""

from __future__ import annotations

import islpy as isl

from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Loop, Tree, loops_around, nest_of, statements
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.split import Split
from .steps import added_statements
from .vectorise_and_parallelise import vectorise_and_parallelise


def index_set_splitting(
    schedule: Schedule, nest: Tree, context: SchedulingContext
) -> Schedule | None:
    """Cuts loops before and behind the iteration that the others depend on, and marks the parts.

    for k:                            for k:
      for j:                            vector j < k: A[j] = f(A[j], A[k])
        A[j] = f(A[j], A[k])    ->      j = k:        A[j] = f(A[j], A[k])
                                        vector j > k: A[j] = f(A[j], A[k])
    """
    result = schedule
    for name in statements(nest):
        result = _cut(result, name, 1)
    return (
        None
        if result is schedule
        else vectorise_and_parallelise(result, nest_of(result.tree, statements(nest)[0]), context)
    )


def _cut(schedule: Schedule, statement: str, depth: int) -> Schedule:
    """The loops around a statement from `depth` on in parts, where that makes these independent."""
    loops = loops_around(schedule.tree, statement)
    if depth >= len(loops):
        return schedule
    loop = loops[depth]
    if len(loop.schedule) > 1 or _is_independent(schedule, statement, depth):
        return _cut(schedule, statement, depth + 1)
    for pivot in loops[depth - 1 :: -1]:
        if not _is_in_the_way(schedule, statement, loop, pivot):
            continue
        found = _at(schedule, statement, loop, pivot)
        if found is None:
            continue
        divided, parts = found
        if all(_is_independent(divided, part, depth) for part in parts):
            for part in parts:
                divided = _cut(divided, part, depth + 1)
            return divided
    return schedule


def _is_in_the_way(schedule: Schedule, statement: str, loop: Loop, pivot: Loop) -> bool:
    """Whether iterations below the value of `pivot` are independent, and those above it as well.

    Found out without the parts, which are a program of their own.
    """
    active = schedule.legality.active(schedule.functions_around(loop))
    function = schedule.legality.function(loop).multi
    value, at = loop.schedule[statement], pivot.schedule[statement]
    for part in map(isl.UnionSet.from_set, (value.lt_set(at), value.gt_set(at))):
        inside = active.intersect_domain(part).intersect_range(part)
        if not inside.subtract(inside.eq_at_multi_union_pw_aff(function)).is_empty():
            return False
    return True


def _at(
    schedule: Schedule, statement: str, loop: Loop, pivot: Loop
) -> tuple[Schedule, tuple[str, str]] | None:
    """The loop in three parts at the value of another, with the statements before and behind."""
    try:
        below = schedule.apply(Split((f"{statement}.{loop.name}",), at=pivot.name))
        (middle,) = added_statements(schedule, below)
        above = below.apply(Split((f"{middle}.{loop.name}",), at=f"{pivot.name}+1"))
        (behind,) = added_statements(below, above)
    except (TransformationError, ValueError):
        return None
    return above, (statement, behind)


def _is_independent(schedule: Schedule, statement: str, depth: int) -> bool:
    """Whether no iteration of the loop at this depth around a statement depends on another."""
    return schedule.is_coincident(loops_around(schedule.tree, statement)[depth])
