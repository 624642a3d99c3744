"""If-conversion of affine conditions that single out a diagonal, where only values depend on them.

    %x = affine.if (i - j == 0) {             %0 = affine.apply (i - j)
      affine.yield %zero                ->    %1 = arith.cmpi eq, %0, 0
    } else { affine.yield %d }                %x = arith.select %1, %zero, %d

All iterations then run the same statements, so that they can be the lanes of a vector.
"""

from __future__ import annotations

from dataclasses import dataclass

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

_NOT_FOR_ALL = (
    "arith.ceildivsi",
    "arith.ceildivui",
    "arith.divsi",
    "arith.divui",
    "arith.floordivsi",
    "arith.remsi",
    "arith.remui",
    "math.external",
)
"""Operations that may end the program for some operands."""


def select_on_diagonal(condition: IfOp) -> bool:
    """Puts selects in place of such a condition; False, and nothing changed, for all others."""
    diagonal = diagonal_of(condition)
    branches = [region.block for region in condition.regions if region.blocks]
    if diagonal is None or len(branches) != 2:
        return False
    if not all(_is_harmless(op) for block in branches for op in block.ops):
        return False
    truth = is_on_diagonal(diagonal, condition)
    values: list[list[SSAValue]] = []
    for block in branches:
        *body, end = block.ops
        values.append(list(end.operands))
        for operation in body:
            operation.detach()
            assert condition.parent is not None
            condition.parent.insert_op_before(operation, condition)
    for result, one, other in zip(condition.results, *values, strict=True):
        select = arith.SelectOp(truth, one, other)
        select.result.name_hint = result.name_hint
        insert_before(condition, select)
        result.replace_all_uses_with(select.result)
    condition.detach()
    condition.erase()
    return True


@dataclass(frozen=True)
class Diagonal:
    """Where `difference`, of the operands of a condition, is zero; it relates `loops`."""

    difference: AffineExpr
    loops: frozenset[ForOp]


def diagonal_of(condition: IfOp) -> Diagonal | None:
    """Where a condition holds, if that is a diagonal of two loops or more.

    What one loop alone decides is split off from it.
    """
    known = condition.condition.data
    difference = _difference(known)
    if difference is None:
        return None
    loops = frozenset(
        loop
        for term, factor in linear_terms(difference)[0].items()
        if factor and (loop := _loop_of(term, condition)) is not None
    )
    return Diagonal(difference, loops) if len(loops) > 1 else None


def _loop_of(term: AffineExpr, condition: IfOp) -> ForOp | None:
    """The loop whose variable is a dimension or symbol of a condition."""
    if not isinstance(term, AffineDimExpr | AffineSymExpr):
        return None
    first = condition.condition.data.num_dims if isinstance(term, AffineSymExpr) else 0
    value = condition.operands[first + term.position]
    loop = value.block.parent_op() if isinstance(value, BlockArgument) else None
    return loop if isinstance(loop, ForOp) else None


def is_on_diagonal(diagonal: Diagonal, condition: IfOp) -> SSAValue:
    """Whether an iteration is on it, computed before the condition."""
    known = condition.condition.data
    place = AffineMapAttr(AffineMap(known.num_dims, known.num_symbols, (diagonal.difference,)))
    apply = ApplyOp(list(condition.operands), place)
    zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
    compared = arith.CmpiOp(apply.result, zero.result, "eq")
    insert_before(condition, apply, zero, compared)
    return compared.result


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


def _is_harmless(operation: Operation) -> bool:
    """Whether an operation may run where its branch is not taken: it only computes."""
    if isinstance(operation, LoadOp):
        kind = operation.memref.type
        return isinstance(kind, MemRefType) and not kind.get_shape()
    return only_computes(operation)


def only_computes(operation: Operation) -> bool:
    """Whether an operation gives a value for any operands and touches no memory."""
    if isinstance(operation, ApplyOp | YieldOp):
        return True
    is_value = operation.name.startswith(("arith.", "math.")) and not operation.regions
    return is_value and operation.name not in _NOT_FOR_ALL
