"""Extents of expanded scalars under a schedule: what is left after storage contracts them.

A dimension is contracted to what lives at the same time: to one element where a loop around all
accesses runs along it, else it is as long as the values of its subscript.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from ..polyhedral.schedule_tree import Loop, leaves
from ..polyhedral.scop import Access, Array
from ..schedules.schedule import Schedule
from .program_statistics import ProgramStatistics, StatementStatistics
from .scheduling_context import SchedulingContext


def stored_statistics(schedule: Schedule, context: SchedulingContext) -> ProgramStatistics:
    """The statistics of a schedule's program with the extents of its expanded scalars."""
    statistics = context.statistics(schedule.scop)
    contracted = [a for a in schedule.scop.arrays if a.shape and set(a.shape) == {None}]
    # Those of packed arrays and partial results follow from the tiles that they are made for.
    contracted = [array for array in contracted if array.scope_depth == len(array.shape)]
    if not contracted:
        return statistics
    # Statements without instances are not in the tree.
    around = {leaf.statement: outer for leaf, outer in leaves(schedule.tree, ())}
    return replace(
        statistics,
        expanded={array.name: _extents(array, statistics, around) for array in contracted},
    )


def _extents(
    array: Array, statistics: ProgramStatistics, around: dict[str, tuple[Loop, ...]]
) -> tuple[int, ...]:
    accesses = [
        (statement, access)
        for statement, access in _accesses(array, statistics)
        if statement.statement.name in around
    ]
    known = statistics.extents(array)
    if not accesses:
        return known
    shared = _shared([around[statement.statement.name] for statement, _ in accesses])
    return tuple(
        max(_length(statement, access, position, shared) for statement, access in accesses)
        for position in range(len(known))
    )


def _accesses(
    array: Array, statistics: ProgramStatistics
) -> Iterator[tuple[StatementStatistics, Access]]:
    for statement in statistics.statements.values():
        for access in statement.statement.accesses:
            if access.array.name == array.name:
                yield statement, access


def _shared(paths: list[tuple[Loop, ...]]) -> tuple[Loop, ...]:
    """The loops around all of the statements."""
    first, *others = paths
    return tuple(loop for loop in first if all(any(loop is o for o in path) for path in others))


def _length(
    statement: StatementStatistics, access: Access, position: int, shared: tuple[Loop, ...]
) -> int:
    """How many values a subscript takes in one iteration of the shared loops."""
    spans = statement.spans_inside(shared)
    row = access.coefficients[position]
    return ceil(1 + sum(abs(c) * max(0.0, span - 1) for c, span in zip(row, spans, strict=True)))
