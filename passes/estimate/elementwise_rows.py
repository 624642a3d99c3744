"""Rows of few elements that are computed in the order of memory (`lowering.memory`)."""

from __future__ import annotations

from ..polyhedral.schedule_tree import place_of
from ..polyhedral.scop import AccessKind
from .loops_around import LoopsAround
from .program_statistics import StatementStatistics, is_scalar
from .scheduled_program import ScheduledProgram


def is_elementwise(
    program: ScheduledProgram, statement: StatementStatistics, around: LoopsAround
) -> bool:
    """Whether lanes are along rows whose elements a loop inside, unrolled fully, goes through.

    What is read may also be the same in all rows, or in all elements of a row.
    """
    vector = around.vector
    if vector is None or vector.vector is None:
        return False
    inside = around.loops[place_of(vector, around.loops) + 1 :]
    if len(inside) != 1 or not program.unrolls(inside[0]) or inside[0].unroll != 0:
        return False
    width = around.trips[place_of(inside[0], around.loops)]
    down, along = (statement.direction(around.loops, loop) for loop in (vector, inside[0]))
    if down is None or along is None:
        return False
    for access in statement.statement.accesses:
        steps = [
            statement.stride(access, direction, program.statistics) for direction in (down, along)
        ]
        is_same = access.kind is AccessKind.READ and (steps[0] == 0 or steps == [1, 0])
        if steps != [width, 1] and not is_same and not is_scalar(access.array):
            return False
    return True
