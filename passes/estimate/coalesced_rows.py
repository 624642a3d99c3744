"""Which loops code generation coalesces (`lowering.loops.coalesce_rows`)."""

from __future__ import annotations

from collections.abc import Sequence

from ..polyhedral.schedule_tree import Loop, leaves
from .program_statistics import StatementStatistics, is_scalar, subscript_steps
from .scheduled_program import ScheduledProgram

LONGEST_ROW = 8
"""Longer inner loops are vectors by themselves."""


def coalesced_elements(program: ScheduledProgram, loops: Sequence[Loop]) -> float | None:
    """Iterations of the loop that the two innermost loops become; None where they stay."""
    if len(loops) < 2 or program.is_explicit:
        return None
    outer, inner = loops[-2:]
    if any(loop.is_marked or loop.within is not None for loop in (outer, inner)):
        return None
    if any(len(around) != 2 or around[-1] is not inner for _, around in leaves(outer)):
        return None
    found: set[float] = set()
    for name in outer.statements:
        statement = program.statement(name)
        *_, rows, width = statement.trips(loops)
        if not 1 < width <= LONGEST_ROW or not _is_in_rows(program, statement, loops, width):
            return None
        found.add(rows * width)
    return found.pop() if len(found) == 1 else None


def _is_in_rows(
    program: ScheduledProgram, statement: StatementStatistics, loops: Sequence[Loop], width: float
) -> bool:
    """Whether a statement accesses what is the same in both loops, or whole rows of this width."""
    across, along = (statement.direction(loops, loop) for loop in loops[-2:])
    if across is None or along is None or statement.gathers or statement.statement.is_opaque:
        return False
    iterators = {k for k, steps in enumerate(zip(across, along, strict=True)) if any(steps)}
    if any(iterators & each.used_dims() for each in statement.statement.indices.values()):
        return False
    for access in statement.statement.accesses:
        if is_scalar(access.array):
            continue
        steps = [subscript_steps(access, direction) for direction in (across, along)]
        if not any(map(any, steps)) and access not in statement.statement.writes:
            continue
        rank = len(access.array.shape)
        whole = [[int(k == moved) for k in range(rank)] for moved in (rank - 2, rank - 1)]
        if rank < 2 or steps != whole or any(access.constants[-2:]):
            return False
        if program.statistics.extents(access.array)[-1] != width:
            return False
    return True
