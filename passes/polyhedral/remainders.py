"""Quotients and remainders of affine expressions without the multiples of their divisors."""

from __future__ import annotations

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineExpr,
)

from .linear_terms import linear_terms


def without_multiples(expression: AffineExpr) -> AffineExpr:
    """The same function: `(d0 * 2 + 3) mod 2` -> `1`, `(d0 * 2 + 3) floordiv 2` -> `d0 + 1`."""
    match expression:
        case AffineBinaryOpExpr(kind, lhs, AffineConstantExpr(divisor)) if divisor > 0:
            inner = without_multiples(lhs)
            if kind is AffineBinaryOpKind.Mod:
                return _split(inner, divisor)[1] % divisor
            if kind is AffineBinaryOpKind.FloorDiv:
                whole, rest = _split(inner, divisor)
                return _simple_sum(whole + rest // divisor)
            return AffineBinaryOpExpr(kind, inner, AffineConstantExpr(divisor))
        case AffineBinaryOpExpr(kind, lhs, rhs):
            return AffineBinaryOpExpr(kind, without_multiples(lhs), without_multiples(rhs))
        case _:
            return expression


def _split(expression: AffineExpr, divisor: int) -> tuple[AffineExpr, AffineExpr]:
    """A sum as `divisor * whole + rest`."""
    terms, constant = linear_terms(expression)
    terms = {term: factor for term, factor in terms.items() if factor}
    whole = {t: f // divisor for t, f in terms.items() if f % divisor == 0}
    rest = {t: f for t, f in terms.items() if f % divisor}
    return _sum(whole, constant // divisor), _sum(rest, constant % divisor)


def _simple_sum(expression: AffineExpr) -> AffineExpr:
    return _sum(*linear_terms(expression))


def _sum(terms: dict[AffineExpr, int], constant: int) -> AffineExpr:
    result: AffineExpr | None = None
    for term, factor in terms.items():
        part = term if factor == 1 else term * factor
        result = part if result is None else result + part
    if result is None:
        return AffineConstantExpr(constant)
    return result + constant if constant else result
