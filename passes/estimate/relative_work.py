"""Work of statements that take longer than others: opaque regions, elementary functions."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.ir import Operation

from ...dialects.opaque import callee_of
from ..polyhedral.scop import Statement
from .elementary_functions import instructions

ITERATIONS = 16
"""Iterations that a loop of a region is taken to have."""

USUAL = 8
"""Operations of an instance of a usual statement."""


def opaque_operations(statement: Statement) -> float:
    """Operations that an instance runs in its regions, roughly; 0 where it has none."""
    return sum(
        _operations(callee_of(operation))
        for operation in statement.body
        if isinstance(operation, func.CallOp)
    )


def relative_work(statement: Statement) -> float:
    """How many usual instances take as long as one of the statement."""
    operations = opaque_operations(statement) + sum(map(instructions, statement.body))
    return max(1.0, operations / USUAL)


def _operations(operation: Operation) -> float:
    inside = sum(
        1.0 + _operations(inner)
        for region in operation.regions
        for block in region.blocks
        for inner in block.ops
    )
    return inside * (ITERATIONS if operation.name in _LOOPS else 1)


_LOOPS = ("affine.for", "scf.for", "scf.while")
