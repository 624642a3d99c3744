"""Products of short integers that are added in pairs (`lowering.llvm.dot_products`)."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation

from ...dialects.arith import ExtSIOp, ExtUIOp
from ..polyhedral.schedule_tree import Loop
from .program_statistics import StatementStatistics

PAIR = 2
"""Products that one operation adds."""

_SUM_BITS, _FACTOR_BITS = 32, 16


def adds_pairs(statement: StatementStatistics, loops: tuple[Loop, ...]) -> bool:
    """Whether a statement adds the products of two packed operands in unrolled pairs."""
    if not any(_is_short_product(op) for op in statement.statement.body):
        return False
    factors = [
        read
        for read in statement.statement.reads
        if read.array.element_type == IntegerType(_FACTOR_BITS)
    ]
    return len(factors) == PAIR and any(
        loop.unroll == 0 and loop.within is not None and loop.within.size == PAIR for loop in loops
    )


def _is_short_product(op: Operation) -> bool:
    return (
        isinstance(op, arith.MuliOp)
        and op.result.type == IntegerType(_SUM_BITS)
        and all(isinstance(factor.owner, ExtSIOp | ExtUIOp) for factor in op.operands)
    )


def paired_share(operation: Operation) -> float:
    """The part of an operation that is left of it in such a sum: extensions are none."""
    if isinstance(operation, ExtSIOp | ExtUIOp):
        return 0.0
    return 1 / PAIR if isinstance(operation, arith.MuliOp | arith.AddiOp) else 1.0
