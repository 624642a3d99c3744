"""Affine expressions, maps and sets in C."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

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

from ...dialects.errors import SourceError
from .c_expressions import Expression, binary, call, integer, unary
from .helpers import index_helper
from .printer import Emitters, Printer

_DIVISIONS: Mapping[AffineBinaryOpKind, tuple[str, Callable[[int, int], int]]] = {
    AffineBinaryOpKind.FloorDiv: ("floord", lambda a, b: a // b),
    AffineBinaryOpKind.CeilDiv: ("ceild", lambda a, b: -(-a // b)),
    AffineBinaryOpKind.Mod: ("mod", lambda a, b: a % b),
}
_EXTREMA: Mapping[str, Callable[[Sequence[int]], int]] = {"min": min, "max": max}
_PREDICATES = {
    AffineConstraintKind.ge: ">=",
    AffineConstraintKind.le: "<=",
    AffineConstraintKind.eq: "==",
}


def apply_map(
    printer: Printer, subject: Operation, map: AffineMap, operands: Sequence[SSAValue]
) -> list[Expression]:
    """The results of a map applied to `operands`: dimensions, then symbols."""
    values = printer.all_values(operands)
    return [_expression(printer, subject, map.num_dims, values, r) for r in map.results]


def bound(
    printer: Printer,
    subject: Operation,
    map: AffineMap,
    operands: Sequence[SSAValue],
    combine: str,
) -> Expression:
    """The smallest (`min`) or largest (`max`) result of a map."""
    return extremum(printer, combine, apply_map(printer, subject, map, operands))


def extremum(printer: Printer, combine: str, values: Sequence[Expression]) -> Expression:
    """`min(min(a, b), c)`, or the same with `max`; constants are one."""
    constants = [value.constant for value in values if value.constant is not None]
    rest = [value for value in values if value.constant is None]
    if constants:
        rest.append(integer(_EXTREMA[combine](constants)))
    if len(rest) == 1:
        return rest[0]
    name = printer.unit.helper(index_helper(combine))
    return functools.reduce(lambda left, right: call(name, left, right), rest)


def condition(
    printer: Printer, subject: Operation, set: AffineSet, operands: Sequence[SSAValue]
) -> Expression:
    """Whether `operands` (dimensions, then symbols) are in a set."""
    values = printer.all_values(operands)
    constraints = [
        binary(
            _expression(printer, subject, set.num_dims, values, constraint.lhs),
            _PREDICATES[constraint.kind],
            _expression(printer, subject, set.num_dims, values, constraint.rhs),
        )
        for constraint in set.constraints
    ]
    if not constraints:
        return integer(1)
    return functools.reduce(lambda left, right: binary(left, "&&", right), constraints)


def _expression(
    printer: Printer,
    subject: Operation,
    num_dims: int,
    values: Sequence[Expression],
    expression: AffineExpr,
) -> Expression:
    def build(expression: AffineExpr) -> Expression:
        match expression:
            case AffineConstantExpr(value=value):
                return integer(value)
            case AffineDimExpr(position=position):
                return values[position]
            case AffineSymExpr(position=position):
                return values[num_dims + position]
            case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add, lhs=left, rhs=right):
                return _sum(build(left), build(right))
            case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul, lhs=left, rhs=right):
                return _product(build(left), build(right))
            case AffineBinaryOpExpr(kind=kind, lhs=left, rhs=right):
                dividend, divisor = build(left), build(right)
                if divisor.constant is None or divisor.constant <= 0:
                    raise SourceError.at(
                        subject, f"the divisor of '{kind.get_token()}' must be positive"
                    )
                name, fold = _DIVISIONS[kind]
                if dividend.constant is not None:
                    return integer(fold(dividend.constant, divisor.constant))
                return call(printer.unit.helper(index_helper(name)), dividend, divisor)
            case _:
                raise SourceError.at(subject, f"unknown affine expression '{expression}'")

    return build(expression)


def _sum(left: Expression, right: Expression) -> Expression:
    """`a + b`, or `a - b` where b is negative."""
    match left.constant, right.constant, right.operation:
        case int(a), int(b), _:
            return integer(a + b)
        case 0, _, _:
            return right
        case _, 0, _:
            return left
        case _, int(b), _ if b < 0:
            return binary(left, "-", integer(-b))
        case _, _, (Expression(constant=int(factor)), "*", value) if factor < 0:
            return binary(left, "-", _product(integer(-factor), value))
        case _:
            return binary(left, "+", right)


def _product(left: Expression, right: Expression) -> Expression:
    """`2 * a`: a constant comes first."""
    match left.constant, right.constant:
        case int(a), int(b):
            return integer(a * b)
        case _, int():
            return _product(right, left)
        case 1, _:
            return right
        case -1, _:
            negated = unary("-", right)
            return replace(negated, operation=(left, "*", right))
        case _:
            return binary(left, "*", right)


def emit_apply(printer: Printer, op: affine.ApplyOp) -> None:
    (result,) = apply_map(printer, op, op.map.data, op.mapOperands)
    printer.define(op.result, result)


def emit_min(printer: Printer, op: affine.MinOp) -> None:
    printer.define(op.result, bound(printer, op, op.map.data, op.arguments, "min"))


def emit_max(printer: Printer, op: affine.MinOp) -> None:
    printer.define(op.result, bound(printer, op, op.map.data, op.arguments, "max"))


EMITTERS: Emitters = {
    "affine.apply": emit_apply,
    "affine.min": emit_min,
    "affine.max": emit_max,
}
