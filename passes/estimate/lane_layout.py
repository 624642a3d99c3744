"""Layout of private arrays: the dimension along which vectors have their lanes is innermost.

An array that is private to an iteration of a vector loop has an expanded dimension for that loop,
and the elements of neighbouring iterations are neighbours, so that vectors are loads and stores
and no gathers and scatters:

    for b, vector: local T[b][4][4]          ->          T[4][4][b]
"""

from __future__ import annotations

from collections.abc import Iterable

from ..polyhedral.schedule_tree import Loop
from ..polyhedral.scop import Array
from .program_statistics import StatementStatistics, subscript_steps


def lane_dimension(
    array: Array, users: Iterable[tuple[StatementStatistics, tuple[Loop, ...]]]
) -> int | None:
    """The expanded dimension of a private array along which all vectors have their lanes.

    `users` are the statements that access it, with the loops around them. None where vectors run
    along several dimensions, or along one of its own.
    """
    moved: set[int] = set()
    for statement, loops in users:
        for loop in loops:
            if loop.vector is None:
                continue
            direction = statement.direction(loops, loop)
            if direction is None:
                return None
            for access in statement.statement.accesses:
                if access.array == array:
                    steps = subscript_steps(access, direction)
                    moved |= {position for position, step in enumerate(steps) if step}
    found = moved.pop() if len(moved) == 1 else None
    return found if found is not None and found < array.scope_depth else None
