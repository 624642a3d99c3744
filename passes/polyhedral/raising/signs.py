"""Sign analysis of integer SSA values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, memref
from xdsl.dialects.affine import ForOp
from xdsl.dialects.builtin import AffineMapAttr, IntegerAttr
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

from ..memrefs import signed_value

# Whether a result is not negative, given that for each operand.
_Rule = Callable[[list[bool]], bool]

_ALL: _Rule = all
_ANY: _Rule = any

_RULES: dict[str, _Rule] = {
    "arith.addi": _ALL,
    "arith.ceildivsi": _ALL,
    "arith.divsi": _ALL,
    "arith.extsi": _ALL,
    "arith.floordivsi": _ALL,
    "arith.index_cast": _ALL,
    "arith.maxsi": _ANY,
    "arith.minsi": _ALL,
    "arith.muli": _ALL,
    "arith.remsi": _ALL,
}

_MAPS: dict[str, _Rule] = {"affine.apply": _ALL, "affine.max": _ANY, "affine.min": _ALL}


def is_never_negative(value: SSAValue, known: dict[SSAValue, bool] | None = None) -> bool:
    """Whether a value is certain not to be negative; overflow is taken not to happen."""
    known = {} if known is None else known
    if value not in known:
        known[value] = _compute(value, known)
    return known[value]


def _compute(value: SSAValue, known: dict[SSAValue, bool]) -> bool:
    if isinstance(value, BlockArgument):
        loop = value.block.parent_op()
        if not isinstance(loop, ForOp) or value.index != 0:
            return False
        return any(_results(loop.lowerBoundMap.data, loop.lowerBoundOperands, known))
    operation = value.owner
    assert isinstance(operation, Operation)
    match operation:
        case arith.ConstantOp(value=IntegerAttr() as constant):
            return signed_value(constant) >= 0
        case memref.DimOp():
            return True
        case _:
            attribute = operation.properties.get("map")
            if isinstance(attribute, AffineMapAttr) and operation.name in _MAPS:
                results = _results(attribute.data, operation.operands, known)
                return _MAPS[operation.name](results)
            rule = _RULES.get(operation.name)
            return rule is not None and rule(
                [is_never_negative(operand, known) for operand in operation.operands]
            )


def _results(
    affine_map: AffineMap, operands: Sequence[SSAValue], known: dict[SSAValue, bool]
) -> list[bool]:
    """For each result of a map of values, whether it is never negative."""
    signs = [is_never_negative(operand, known) for operand in operands]
    return [_expression(result, signs, affine_map.num_dims) for result in affine_map.results]


def _expression(expression: AffineExpr, signs: Sequence[bool], dims: int) -> bool:
    match expression:
        case AffineConstantExpr(value):
            return value >= 0
        case AffineDimExpr(position):
            return signs[position]
        case AffineSymExpr(position):
            return signs[dims + position]
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mod):
            return True
        case AffineBinaryOpExpr(_, left, right):
            return _expression(left, signs, dims) and _expression(right, signs, dims)
        case _:
            return False
