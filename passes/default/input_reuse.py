"""Loop fusion for input reuse: nests that stream the same matrix."""

from __future__ import annotations

from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Loop, Tree, chain, leaves, nests
from ..schedules.schedule import Schedule
from ..transformations.fuse import Fuse
from ..transformations.interchange import Interchange
from .steps import attempt


def fuse_for_input_reuse(schedule: Schedule, context: SchedulingContext) -> Schedule:
    """Turns each nest along the rows of its matrix, and joins neighbours that read the same one.

    for i: for j: x[i] += A[i, j] * y[j]          for i: for j: x[i] += A[i, j] * y[j]
    for i: for j: z[i] += A[j, i] * w[j]    ->                  z[j] += A[i, j] * w[i]
    """
    for position in range(len(nests(schedule.tree))):
        schedule = _along_rows(schedule, nests(schedule.tree)[position], context)
    position = 0
    while position + 1 < len(nests(schedule.tree)):
        first, second = nests(schedule.tree)[position : position + 2]
        joined = _join(schedule, first, second, context)
        if joined is None:
            position += 1
        else:
            schedule = joined
    return schedule


def _along_rows(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Schedule:
    """Two loops around one statement, the one that walks along rows inside."""
    statistics = context.statistics(schedule.scop)
    if not isinstance(nest, Loop) or len(nest.schedule) != 1 or len(chain(nest)) != 2:
        return schedule
    ((leaf, loops),) = leaves(nest, ())
    statement = statistics.statements[leaf.statement]
    strides: list[list[int]] = []
    for loop in loops:
        direction = statement.direction(loops, loop)
        if direction is None:
            return schedule
        strides.append(
            [abs(statement.stride(a, direction, statistics)) for a in statement.statement.accesses]
        )
    jumps = [sum(stride > 1 for stride in along) for along in strides]
    if jumps[0] >= jumps[1]:
        return schedule
    return attempt(schedule, Interchange(_names(loops[::-1]))) or schedule


def _names(loops: tuple[Loop, ...]) -> tuple[str, ...]:
    return tuple(f"{next(iter(loop.schedule))}.{loop.name}" for loop in loops)


def _join(
    schedule: Schedule, first: Tree, second: Tree, context: SchedulingContext
) -> Schedule | None:
    """The two nests in one, and the loops inside if these are alone; None if that is no gain."""
    if not isinstance(first, Loop) or not isinstance(second, Loop):
        return None
    rows = _rows(schedule, first, context)
    if not rows & _rows(schedule, second, context):
        return None
    fused = attempt(schedule, Fuse(_names((first, second))))
    if fused is None:
        return None
    if isinstance(first.body, Loop) and isinstance(second.body, Loop):
        return attempt(fused, Fuse(_names((first.body, second.body)))) or fused
    return fused


def _rows(schedule: Schedule, nest: Loop, context: SchedulingContext) -> set[tuple[str, int]]:
    """Matrices that do not fit in a core's caches, with the step that the outer loop makes."""
    statistics = context.statistics(schedule.scop)
    near = schedule.target.caches.get(2, 0)
    return {
        (access.array.name, statement.stride(access, direction, statistics))
        for leaf, loops in leaves(nest, ())
        for statement in [statistics.statements[leaf.statement]]
        for direction in [statement.direction(loops, loops[0])]
        if len(loops) == 2 and direction is not None
        for access in statement.statement.accesses
        if statistics.bytes(access.array) > near
        and statement.stride(access, direction, statistics) > 1
    }
