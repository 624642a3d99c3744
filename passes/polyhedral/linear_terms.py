"""Linear terms of affine expressions."""

from __future__ import annotations

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineExpr,
)


def linear_terms(expression: AffineExpr) -> tuple[dict[AffineExpr, int], int]:
    """`(d0 + s0 * 2) * 3 - 1` -> `{d0: 3, s0: 6}, -1`: factors of the terms, and the constant.

    Terms are dims, symbols, and whatever rounds or multiplies these.
    """
    terms: dict[AffineExpr, int] = {}
    return terms, _collect(expression, 1, terms)


def _collect(expression: AffineExpr, factor: int, terms: dict[AffineExpr, int]) -> int:
    """Adds `factor` times a sum to its terms, and returns its constant part."""
    match expression:
        case AffineConstantExpr(value):
            return factor * value
        case AffineBinaryOpExpr(AffineBinaryOpKind.Add, lhs, rhs):
            return _collect(lhs, factor, terms) + _collect(rhs, factor, terms)
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mul, lhs, AffineConstantExpr(value)):
            return _collect(lhs, factor * value, terms)
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mul, AffineConstantExpr(value), rhs):
            return _collect(rhs, factor * value, terms)
        case _:
            terms[expression] = terms.get(expression, 0) + factor
            return 0
