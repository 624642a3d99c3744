"""Extents and layout of private arrays under a schedule: what is left after contraction.

A dimension is contracted to what lives at the same time: to one element where a loop around all
accesses runs along it, else it is as long as the values of its subscript. Statements that share no
cells have an array each: the largest of these counts. Where vectors run along one of the expanded
dimensions, their lanes are neighbours (`lane_layout`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..polyhedral.schedule_tree import Loop, leaves
from ..polyhedral.scop import Array, Scop
from ..polyhedral.shared_cells import sharing_statements
from ..schedules.schedule import Schedule
from .lane_layout import lane_dimension
from .program_statistics import ProgramStatistics, StatementStatistics, subscript_length
from .scheduling_context import SchedulingContext


def stored_statistics(schedule: Schedule, context: SchedulingContext) -> ProgramStatistics:
    """The statistics of a schedule's program with its private arrays as they are stored."""
    statistics = context.statistics(schedule.scop)
    contracted = [array for array in schedule.scop.arrays if array.scope_depth]
    if not contracted:
        return statistics
    # Statements without instances are not in the tree.
    around = {leaf.statement: outer for leaf, outer in leaves(schedule.tree, ())}
    users: dict[str, list[tuple[StatementStatistics, tuple[Loop, ...]]]] = {
        array.name: [] for array in contracted
    }
    for name, outer in around.items():
        each = statistics.statements[name]
        for accessed in {access.array.name for access in each.statement.accesses} & users.keys():
            users[accessed].append((each, outer))
    dimensions = {array.name: lane_dimension(array, users[array.name]) for array in contracted}
    return replace(
        statistics,
        innermost={name: found for name, found in dimensions.items() if found is not None},
        expanded={
            each.name: _largest(each, schedule.scop, statistics, around, context)
            for each in contracted
        },
    )


def _largest(
    array: Array,
    scop: Scop,
    statistics: ProgramStatistics,
    around: Mapping[str, tuple[Loop, ...]],
    context: SchedulingContext,
) -> tuple[int, ...]:
    found = [
        _extents(array, users, statistics, context)
        for group in sharing_statements(scop, array)
        if (users := {name: around[name] for name in group if name in around})
    ]
    return tuple(map(max, zip(*found, strict=True))) or statistics.extents(array)


def _extents(
    array: Array,
    around: Mapping[str, tuple[Loop, ...]],
    statistics: ProgramStatistics,
    context: SchedulingContext,
) -> tuple[int, ...]:
    """Of the array of some statements that share cells, with the loops around each."""
    users = [each for name, each in statistics.statements.items() if name in around]
    shared = _shared([around[user.statement.name] for user in users])
    # Statistics keep the schedules of the loops, so that their ids stay their own.
    key = array.name, tuple(id(loop.schedule) for loop in shared), tuple(map(id, users))
    found = context.expanded.get(key)
    if found is None:
        lengths = [_lengths(array, user, shared) for user in users]
        found = context.expanded[key] = tuple(map(max, zip(*lengths, strict=True)))
    return found


def _shared(paths: list[tuple[Loop, ...]]) -> tuple[Loop, ...]:
    """The loops around all of the statements."""
    first, *others = paths
    return tuple(loop for loop in first if all(any(loop is o for o in path) for path in others))


def _lengths(
    array: Array, statement: StatementStatistics, shared: tuple[Loop, ...]
) -> tuple[int, ...]:
    """How many values each subscript takes in one iteration of the shared loops."""
    own = [a for a in statement.statement.accesses if a.array.name == array.name]
    lengths = [
        [subscript_length(row, spans) for row in access.coefficients]
        for access in own
        for spans in [statement.spans_inside(shared, statement.own_iterators(access))]
    ]
    return tuple(map(max, zip(*lengths, strict=True)))
