"""Rows and columns that are computed from the number of an element, which the address needs alone.

x[k floordiv 16][k mod 16]  of rows of 16    ->    *(x + k)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineExpr,
    AffineMap,
)

from ...passes.polyhedral.linear_terms import linear_terms


def flattened(subscripts: AffineMap, shape: Sequence[int]) -> AffineMap | None:
    """Row and column as one subscript, the others kept; None where that saves no rounding."""
    if len(subscripts.results) < 2 or shape[-1] <= 0:
        return None
    *outer, row, column = subscripts.results
    if not any(isinstance(each, AffineBinaryOpExpr) for each in linear_terms(column)[0]):
        return None  # Most columns are sums of loops.
    terms: defaultdict[AffineExpr, int] = defaultdict(int)
    constant = 0
    for expression, factor in ((row, shape[-1]), (column, 1)):
        found, alone = linear_terms(expression)
        constant += factor * alone
        for term, each in found.items():
            constant += _add(term, factor * each, terms)
    if not any(not factor and _is_rounded(term) for term, factor in terms.items()):
        return None
    total: AffineExpr = AffineExpr.constant(constant)
    for term, factor in terms.items():
        total = total + term * factor if factor else total
    return AffineMap(subscripts.num_dims, subscripts.num_symbols, (*outer, total))


def _add(term: AffineExpr, factor: int, terms: defaultdict[AffineExpr, int]) -> int:
    """Adds a term, a remainder as what it is of; the constant in that."""
    match term:
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mod, value, AffineConstantExpr() as divisor):
            terms[value // divisor.value] -= factor * divisor.value
            found, constant = linear_terms(value)
            for inner, each in found.items():
                terms[inner] += factor * each
            return factor * constant
        case _:
            terms[term] += factor
            return 0


def _is_rounded(term: AffineExpr) -> bool:
    return isinstance(term, AffineBinaryOpExpr) and term.kind is AffineBinaryOpKind.FloorDiv
