"""Bounds of loops as the program was written, where LLVM sees them; those of schedules are made."""

from __future__ import annotations

from ...dialects import affine
from ..polyhedral.schedule_tree import Loop
from .program_statistics import StatementStatistics


def has_varying_bounds(statement: StatementStatistics, loop: Loop) -> bool:
    """Whether the bounds of a loop around a statement depend on other loops.

    LLVM does not unroll it then, as it does one of constant length with conditions inside.
    """
    around: list[affine.ForOp] = []
    parent = statement.statement.body[0].parent_op()
    while parent is not None:
        if isinstance(parent, affine.ForOp):
            around.append(parent)
        parent = parent.parent_op()
    position = statement.iterator_of(loop)
    if position is None or len(around) != len(statement.statement.loops):
        return False
    own = around[-1 - position]
    operands = (*own.lowerBoundOperands, *own.upperBoundOperands)
    return any(isinstance(each.owner.parent_op(), affine.ForOp) for each in operands)
