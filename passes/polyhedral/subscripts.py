"""Subscripts of accesses as linear forms of the iterators."""

from __future__ import annotations

from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap, AffineSymExpr

from .linear_terms import linear_terms

_FAR = 2**20


def coefficients(access_map: AffineMap) -> tuple[tuple[int, ...], ...]:
    """The coefficients of the iterators, per subscript, measured where subscripts round."""
    dims, symbols = access_map.num_dims, access_map.num_symbols
    return tuple([_row(result, dims, symbols) for result in access_map.results])


def _row(subscript: AffineExpr, dims: int, symbols: int) -> tuple[int, ...]:
    terms, _ = linear_terms(subscript)
    if all(isinstance(term, AffineDimExpr | AffineSymExpr) for term in terms):
        return tuple([terms.get(AffineDimExpr(d), 0) for d in range(dims)])
    zeros = [0] * symbols
    origin = subscript.eval([0] * dims, zeros)
    far = [
        subscript.eval([_FAR * (other == d) for other in range(dims)], zeros) for d in range(dims)
    ]
    return tuple([(value - origin) // _FAR for value in far])
