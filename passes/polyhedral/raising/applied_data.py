"""Expands affine.apply of what comes from memory, and of products, to arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

from ....dialects.affine import ApplyOp
from ..gathers import is_irregular
from .cells import insert_before

_Make = Callable[[SSAValue, SSAValue], arith.SignlessIntegerBinaryOperation]

_OPERATIONS: dict[AffineBinaryOpKind, _Make] = {
    AffineBinaryOpKind.Add: arith.AddiOp,
    AffineBinaryOpKind.Mul: arith.MuliOp,
    AffineBinaryOpKind.FloorDiv: arith.FloorDivSIOp,
    AffineBinaryOpKind.CeilDiv: arith.CeilDivSIOp,
}


def expand_applied_data(function: func.FuncOp) -> None:
    """Rewrites in place; the operations may be those of vectors, which affine.apply is not.

    %k = affine.apply affine_map<(d0) -> (d0 * 2 + 1)>(%j)  ->  %0 = arith.muli %j, %c2
                                                               %k = arith.addi %0, %c1
    """
    for operation in list(function.walk()):
        if isinstance(operation, ApplyOp) and is_irregular(operation.result):
            result = _expanded(operation, operation.map.data.results[0], operation.mapOperands)
            operation.result.replace_all_uses_with(result)
            operation.detach()
            operation.erase()


def _expanded(apply: ApplyOp, expression: AffineExpr, operands: Sequence[SSAValue]) -> SSAValue:
    match expression:
        case AffineDimExpr(position=position):
            return operands[position]
        case AffineSymExpr(position=position):
            return operands[apply.map.data.num_dims + position]
        case AffineConstantExpr(value=value):
            return _inserted(apply, arith.ConstantOp(IntegerAttr(value, IndexType())))
        case AffineBinaryOpExpr(kind=kind, lhs=left, rhs=right):
            one, other = (_expanded(apply, each, operands) for each in (left, right))
            if kind is not AffineBinaryOpKind.Mod:
                return _inserted(apply, _OPERATIONS[kind](one, other))
            quotient = _inserted(apply, arith.FloorDivSIOp(one, other))
            multiple = _inserted(apply, arith.MuliOp(quotient, other))
            return _inserted(apply, arith.SubiOp(one, multiple))
        case _:
            raise AssertionError(f"unknown affine expression '{expression}'")


def _inserted(apply: ApplyOp, operation: Operation) -> SSAValue:
    insert_before(apply, operation)
    return operation.results[0]
