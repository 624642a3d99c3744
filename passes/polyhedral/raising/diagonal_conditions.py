"""If-conversion of affine conditions that single out a diagonal, where only values depend on them.

    %x = affine.if (i - j == 0) {             %0 = affine.apply (i - j)
      affine.yield %zero                ->    %1 = arith.cmpi eq, %0, 0
    } else { affine.yield %d }                %x = arith.select %1, %zero, %d

All iterations then run the same statements, so that they can be the lanes of a vector.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.affine import ForOp, IfOp, YieldOp
from xdsl.dialects.builtin import AffineMapAttr, IndexType, IntegerAttr, MemRefType
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import (
    AffineConstraintKind,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSet,
    AffineSymExpr,
)

from ....dialects.affine import ApplyOp, LoadOp
from ..linear_terms import linear_terms
from .cells import insert_before

_TRAPPING = (
    "arith.ceildivsi",
    "arith.ceildivui",
    "arith.divsi",
    "arith.divui",
    "arith.floordivsi",
    "arith.remsi",
    "arith.remui",
)


def select_on_diagonal(condition: IfOp) -> bool:
    """Puts selects in place of such a condition; False, and nothing changed, for all others."""
    difference = _difference(condition.condition.data)
    if difference is None or not _has_two_loops(condition, difference):
        return False
    branches = [region.block for region in condition.regions if region.blocks]
    if len(branches) != 2 or not all(_is_harmless(op) for block in branches for op in block.ops):
        return False
    known = condition.condition.data
    place = AffineMapAttr(AffineMap(known.num_dims, known.num_symbols, (difference,)))
    apply = ApplyOp(list(condition.operands), place)
    zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
    compared = arith.CmpiOp(apply.result, zero.result, "eq")
    insert_before(condition, apply, zero, compared)
    values: list[list[SSAValue]] = []
    for block in branches:
        *body, end = block.ops
        values.append(list(end.operands))
        for operation in body:
            operation.detach()
            assert condition.parent is not None
            condition.parent.insert_op_before(operation, condition)
    for result, one, other in zip(condition.results, *values, strict=True):
        select = arith.SelectOp(compared.result, one, other)
        select.result.name_hint = result.name_hint
        insert_before(condition, select)
        result.replace_all_uses_with(select.result)
    condition.detach()
    condition.erase()
    return True


def _difference(condition: AffineSet) -> AffineExpr | None:
    """What must be zero: of one equation, or of two inequalities that say the same."""
    match condition.constraints:
        case (only,) if only.kind is AffineConstraintKind.eq:
            return only.lhs - only.rhs
        case (one, other) if one.kind is other.kind is AffineConstraintKind.ge:
            first, second = one.lhs - one.rhs, other.lhs - other.rhs
            terms, constant = linear_terms(first + second)
            return None if constant or any(terms.values()) else first
        case _:
            return None


def _has_two_loops(condition: IfOp, difference: AffineExpr) -> bool:
    """Whether it relates two loops: what one loop alone decides is split off from it."""
    dims = condition.condition.data.num_dims
    moving = {
        condition.operands[term.position + (dims if isinstance(term, AffineSymExpr) else 0)]
        for term, factor in linear_terms(difference)[0].items()
        if factor and isinstance(term, AffineDimExpr | AffineSymExpr)
    }
    return sum(_is_loop_variable(value) for value in moving) > 1


def _is_loop_variable(value: SSAValue) -> bool:
    return isinstance(value, BlockArgument) and isinstance(value.block.parent_op(), ForOp)


def _is_harmless(operation: Operation) -> bool:
    """Whether an operation may run where its branch is not taken: it only computes."""
    if isinstance(operation, LoadOp):
        kind = operation.memref.type
        return isinstance(kind, MemRefType) and not kind.get_shape()
    is_value = operation.name.startswith(("arith.", "math.")) and not operation.regions
    return isinstance(operation, YieldOp) or (is_value and operation.name not in _TRAPPING)
