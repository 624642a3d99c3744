"""Affine expressions, maps and sets as index arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from llvmlite import ir
from xdsl.dialects import affine
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineConstraintKind,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSet,
    AffineSymExpr,
)

from ...dialects.affine import DelinearizeIndexOp, LinearizeIndexOp
from ...dialects.errors import SourceError
from . import integers
from .emitter import Emitters, FunctionEmitter, constant
from .types import I1

_DIVISIONS = {
    AffineBinaryOpKind.FloorDiv: integers.floor_divide,
    AffineBinaryOpKind.CeilDiv: integers.ceil_divide,
    AffineBinaryOpKind.Mod: integers.modulo,
}
_PREDICATES: dict[AffineConstraintKind, Literal[">=", "<=", "=="]] = {
    AffineConstraintKind.ge: ">=",
    AffineConstraintKind.le: "<=",
    AffineConstraintKind.eq: "==",
}


class _MapEmitter:
    """Emits the expressions of one map or set, applied to given values."""

    def __init__(
        self,
        emitter: FunctionEmitter,
        subject: Operation,
        num_dims: int,
        operands: Sequence[ir.Value],
    ) -> None:
        self.emitter = emitter
        self.subject = subject
        self.dims = operands[:num_dims]
        self.symbols = operands[num_dims:]

    def emit(self, expression: AffineExpr) -> ir.Value:
        match expression:
            case AffineConstantExpr(value=value):
                return constant(value)
            case AffineDimExpr(position=position):
                return self.dims[position]
            case AffineSymExpr(position=position):
                return self.symbols[position]
            case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add, lhs=left, rhs=right):
                return self._add(left, right)
            case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul, lhs=left, rhs=right):
                return integers.multiply(self.emitter, self.emit(left), self.emit(right))
            case AffineBinaryOpExpr(kind=kind, lhs=left, rhs=right):
                divisor = integers.known(self.emit(right))
                if divisor is None or divisor <= 0:
                    raise SourceError.at(
                        self.subject, f"the divisor of '{kind.get_token()}' must be positive"
                    )
                return _DIVISIONS[kind](self.emitter, self.emit(left), divisor)
            case _:
                raise SourceError.at(self.subject, f"unknown affine expression '{expression}'")

    def _add(self, left: AffineExpr, right: AffineExpr) -> ir.Value:
        match right:
            case AffineBinaryOpExpr(
                kind=AffineBinaryOpKind.Mul, lhs=factor, rhs=AffineConstantExpr(value=-1)
            ):
                return integers.subtract(self.emitter, self.emit(left), self.emit(factor))
            case _:
                return integers.add(self.emitter, self.emit(left), self.emit(right))


def emit_map(
    emitter: FunctionEmitter, subject: Operation, map: AffineMap, operands: Sequence[ir.Value]
) -> list[ir.Value]:
    """The results of a map applied to `operands`: dimensions, then symbols."""
    maps = _MapEmitter(emitter, subject, map.num_dims, operands)
    return [maps.emit(expression) for expression in map.results]


def emit_bound(
    emitter: FunctionEmitter,
    subject: Operation,
    map: AffineMap,
    operands: Sequence[SSAValue],
    combine: Callable[[FunctionEmitter, ir.Value, ir.Value], ir.Value],
) -> ir.Value:
    """The smallest or largest result of a map; `combine` is integers.minimum or .maximum."""
    first, *others = emit_map(emitter, subject, map, emitter.all_values(operands))
    for other in others:
        first = combine(emitter, first, other)
    return first


def emit_condition(
    emitter: FunctionEmitter, subject: Operation, set: AffineSet, operands: Sequence[ir.Value]
) -> ir.Value:
    """Whether `operands` (dimensions, then symbols) are in a set, as an i1."""
    maps = _MapEmitter(emitter, subject, set.num_dims, operands)
    result: ir.Value = ir.Constant(I1, 1)
    for position, constraint in enumerate(set.constraints):
        holds = emitter.builder.icmp_signed(
            _PREDICATES[constraint.kind], maps.emit(constraint.lhs), maps.emit(constraint.rhs)
        )
        result = emitter.builder.and_(result, holds) if position else holds
    return result


def emit_apply(emitter: FunctionEmitter, op: affine.ApplyOp) -> None:
    operands = emitter.all_values(op.mapOperands)
    (emitter.values[op.result],) = emit_map(emitter, op, op.map.data, operands)


def emit_min(emitter: FunctionEmitter, op: affine.MinOp) -> None:
    emitter.values[op.result] = emit_bound(emitter, op, op.map.data, op.operands, integers.minimum)


def emit_max(emitter: FunctionEmitter, op: affine.MinOp) -> None:
    emitter.values[op.result] = emit_bound(emitter, op, op.map.data, op.operands, integers.maximum)


def emit_delinearize(emitter: FunctionEmitter, op: DelinearizeIndexOp) -> None:
    index = emitter.all_values((op.linear_index,))
    for result, function in zip(op.multi_index, op.maps(), strict=True):
        (emitter.values[result],) = emit_map(emitter, op, function, index)


def emit_linearize(emitter: FunctionEmitter, op: LinearizeIndexOp) -> None:
    indices = emitter.all_values(op.multi_index)
    (emitter.values[op.linear_index],) = emit_map(emitter, op, op.map(), indices)


EMITTERS: Emitters = {
    "affine.apply": emit_apply,
    "affine.delinearize_index": emit_delinearize,
    "affine.linearize_index": emit_linearize,
    "affine.min": emit_min,
    "affine.max": emit_max,
}
