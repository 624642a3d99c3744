"""Loops around short ones along which LLVM makes no vectors, as `short_loops` tells it.

for j: for a < 4: T[a] = X[2 j + a]      ->      copies of the statement, in vectors along a
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ..polyhedral.schedule_tree import Loop, leaves
from .program_statistics import StatementStatistics, is_scalar
from .scheduled_program import ScheduledProgram

SHORTEST = 4
"""Iterations from which on copies of an unrolled loop are taken for vectors (SLP)."""


def has_better_copies(program: ScheduledProgram, loop: Loop, outer: tuple[Loop, ...]) -> bool:
    """Whether LLVM makes vectors of the copies of an unrolled loop inside of one, if any.

    It does where more accesses jump along the one around, and fewer follow each other.
    """
    steps: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for leaf, around in leaves(loop, outer):
        statement, inner = program.statement(leaf.statement), around[-1]
        if inner is not loop and statement.trips(around)[-1] >= SHORTEST:
            steps[id(inner)] += _steps(program, statement, (inner, around[len(outer)]), around)
    return any(map(_jumps_outside, steps.values()))


def _steps(
    program: ScheduledProgram,
    statement: StatementStatistics,
    pair: tuple[Loop, Loop],
    loops: tuple[Loop, ...],
) -> Iterator[tuple[int, int]]:
    """By how many elements each access of an array moves along two loops."""
    inner, outer = (statement.direction(loops, loop) for loop in pair)
    if inner is None or outer is None:
        return
    for access in statement.statement.accesses:
        if not is_scalar(access.array):
            own, move = (
                abs(statement.stride(access, each, program.statistics)) for each in (inner, outer)
            )
            yield own, move


def _jumps_outside(steps: Sequence[tuple[int, int]]) -> bool:
    follow = [sum(pair[k] == 1 for pair in steps) for k in (0, 1)]
    jumps = sum(move > 1 for _, move in steps)
    gathers = sum(own > 1 and move != 0 for own, move in steps)
    return follow[0] > follow[1] and gathers < jumps
