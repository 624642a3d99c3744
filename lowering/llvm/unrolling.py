"""Unroll hints for LLVM.

LLVM's pipeline for explicit vectors unrolls little by itself, yet registers hold a tile of an array
across a loop only when the loops over the tile are gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, inf, isfinite
from typing import NamedTuple

from xdsl.dialects import affine, arith
from xdsl.dialects.builtin import IntegerAttr, VectorType
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap, AffineSymExpr

from ...passes.polyhedral.linear_terms import linear_terms
from ..loops.operations import operations

# Operations of loop IR, all iterations together, up to which a vector loop is unrolled fully.
MAX_UNROLLED_OPERATIONS = 256

# Vectors that a loop hands on from which on it is not unrolled further: that saves nothing, and
# with fast math LLVM would add up the terms of several iterations first, for which registers are
# missing.
MANY_VECTORS = 4

# Terms from which on the loop over vectors of a sum is not unrolled: with fast math LLVM would add
# the terms up in another order, for which registers are missing.
LONG_SUM = 256

LOOPS = frozenset({"affine.for", "affine.parallel", "scf.for", "scf.parallel", "scf.while"})


class Rounded(NamedTuple):
    """A quasi-affine term with a division, and the values that it depends on."""

    expression: AffineExpr
    values: tuple[SSAValue, ...]


Linear = dict[SSAValue | Rounded | None, int]
"""A linear combination: coefficients by term (None: the constant)."""


def unroll_hint(op: Operation) -> int | None:
    """How often to unroll a loop (0: fully), by its `llvm.unroll` or as its size suggests."""
    stated = op.attributes.get("llvm.unroll")
    if isinstance(stated, IntegerAttr):
        return stated.value.data
    size = _unrolled_operations(op) if isinstance(op, affine.ForOp) else None
    small = size is not None and size <= MAX_UNROLLED_OPERATIONS
    if small and has_vectors(op):
        return 0
    carried = [value for value in op.operands if isinstance(value.type, VectorType)]
    return 1 if len(carried) >= MANY_VECTORS else None


def is_long_sum(op: affine.ForOp) -> bool:
    """Whether many iterations of an innermost loop, without vectors, add up in one place."""
    inside = operations(op)[1:]
    trips = trip_count(op)
    if trips is None or trips < LONG_SUM or has_vectors(op):
        return False
    stores = [each for each in inside if isinstance(each, affine.StoreOp)]
    index = op.body.block.args[0]
    return (
        bool(stores or op.inits)
        and not any(each.name in LOOPS for each in inside)
        and all(index not in each.indices for each in stores)
    )


def has_vectors(op: Operation) -> bool:
    """Whether an operation inside makes a vector."""
    return any(
        isinstance(kind, VectorType) for inner in operations(op) for kind in inner.result_types
    )


def all_loops_have_vectors(op: Operation) -> bool:
    """Whether there are loops, and vectors in every one that has no loop inside."""
    innermost = [
        loop
        for loop in operations(op)
        if loop.name in LOOPS and not any(inner.name in LOOPS for inner in operations(loop)[1:])
    ]
    return bool(innermost) and all(has_vectors(loop) for loop in innermost)


def _unrolled_operations(op: affine.ForOp) -> int | None:
    """The operations left when a loop and those inside are unrolled; None when not all can be."""
    trips = trip_count(op)
    if trips is None:
        return None
    size = 0
    for inner in op.body.block.ops:
        is_loop = isinstance(inner, affine.ForOp)
        inner_size = _unrolled_operations(inner) if is_loop else _operations_without_loops(inner)
        if inner_size is None:
            return None
        size += inner_size
    return trips * size


def _operations_without_loops(op: Operation) -> int | None:
    """The operations inside of one, itself included; None where there are loops."""
    nested = operations(op)
    return None if any(each.name in LOOPS for each in nested) else len(nested)


def trip_count(op: affine.ForOp) -> int | None:
    """How often a loop runs, when the difference of its bounds is a constant."""
    lower = _linear(op.lowerBoundMap.data, op.lowerBoundOperands)
    upper = _linear(op.upperBoundMap.data, op.upperBoundOperands)
    if lower is None or upper is None:
        return None
    difference = combined(upper, lower, -1)
    distance = difference.pop(None, 0)
    if any(difference.values()):
        return None
    return max(0, -(-distance // op.step.value.data))


def most_iterations(op: affine.ForOp) -> float:
    """How often a loop runs at most; infinity where its bounds do not tell."""
    lower = linear_results(op.lowerBoundMap.data, op.lowerBoundOperands)
    upper = linear_results(op.upperBoundMap.data, op.upperBoundOperands)
    known: dict[tuple[affine.ForOp, bool], float] = {}
    extent = min(_greatest(combined(end, begin, -1), known) for begin in lower for end in upper)
    return max(0.0, ceil(extent / op.step.value.data)) if isfinite(extent) else inf


def _greatest(form: Linear, known: dict[tuple[affine.ForOp, bool], float]) -> float:
    """The greatest value of a linear combination, as far as indices of loops tell.

    `known` are greatest (True) and least values of indices: bounds name those of loops around again
    and again.
    """
    total = 0.0
    for term, coefficient in form.items():
        if term is None:
            total += coefficient
        elif coefficient:
            loop = term.block.parent_op() if isinstance(term, BlockArgument) else None
            if not isinstance(loop, affine.ForOp) or term is not loop.body.block.args[0]:
                return inf
            key = loop, coefficient > 0
            if key not in known:
                known[key] = _extreme(*key, known)
            total += coefficient * known[key]
    return total


def _extreme(
    loop: affine.ForOp, is_greatest: bool, known: dict[tuple[affine.ForOp, bool], float]
) -> float:
    """The greatest or least value of the index of a loop."""
    if is_greatest:
        ends = linear_results(loop.upperBoundMap.data, loop.upperBoundOperands)
        return min(_greatest(end, known) for end in ends) - 1
    begins = linear_results(loop.lowerBoundMap.data, loop.lowerBoundOperands)
    return max(-_greatest(combined({}, begin, -1), known) for begin in begins)


def _linear(map: AffineMap, operands: Sequence[SSAValue]) -> Linear | None:
    """The only result of a map as a linear combination; None when there are several."""
    results = linear_results(map, operands)
    return results[0] if len(results) == 1 else None


def _value(operand: SSAValue) -> Linear:
    """An operand by itself, or the constant that it is."""
    owner = operand.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return {None: owner.value.value.data}
    return {operand: 1}


def linear_results(map: AffineMap, operands: Sequence[SSAValue]) -> list[Linear]:
    """The results of a map as linear combinations."""
    return [_linear_result(result, map, operands) for result in map.results]


def _linear_result(expression: AffineExpr, map: AffineMap, operands: Sequence[SSAValue]) -> Linear:
    terms, constant = linear_terms(expression)
    result: Linear = {None: constant} if constant else {}
    for term, factor in terms.items():
        result = combined(result, _term(term, map, operands), factor)
    return result


def _term(term: AffineExpr, map: AffineMap, operands: Sequence[SSAValue]) -> Linear:
    match term:
        case AffineDimExpr(position=position):
            return _value(operands[position])
        case AffineSymExpr(position=position):
            return _value(operands[map.num_dims + position])
        case _:
            # Equal terms over equal operands cancel.
            return {Rounded(term, _used(term, map, operands)): 1}


def _used(
    expression: AffineExpr, map: AffineMap, operands: Sequence[SSAValue]
) -> tuple[SSAValue, ...]:
    """The operands of an expression of a map."""
    parts = list(expression.dfs())
    dimensions = (part.position for part in parts if isinstance(part, AffineDimExpr))
    symbols = (map.num_dims + part.position for part in parts if isinstance(part, AffineSymExpr))
    return tuple(operands[position] for position in sorted({*dimensions, *symbols}))


def combined(left: Linear, right: Linear, factor: int) -> Linear:
    """A linear combination, and another one `factor` times, without terms that cancel."""
    result = dict(left)
    for term, coefficient in right.items():
        result[term] = result.get(term, 0) + factor * coefficient
    return {term: coefficient for term, coefficient in result.items() if coefficient}
