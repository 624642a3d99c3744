"""Subscripts of accesses as sums of multiples of the iterators."""

from __future__ import annotations

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

_FAR = 2**20


def coefficients(access_map: AffineMap) -> tuple[tuple[int, ...], ...]:
    """The coefficients of the iterators, per subscript, measured where subscripts round."""
    dims, symbols = access_map.num_dims, access_map.num_symbols
    return tuple([_row(result, dims, symbols) for result in access_map.results])


def _row(subscript: AffineExpr, dims: int, symbols: int) -> tuple[int, ...]:
    row = [0] * dims
    if not _add(subscript, 1, row):
        zeros = [0] * symbols
        origin = subscript.eval([0] * dims, zeros)
        for d in range(dims):
            far = subscript.eval([_FAR * (other == d) for other in range(dims)], zeros)
            row[d] = (far - origin) // _FAR
    return tuple(row)


def _add(expression: AffineExpr, factor: int, row: list[int]) -> bool:
    """Adds a multiple of an expression to a row; False where that is no sum of multiples."""
    match expression:
        case AffineDimExpr(position):
            row[position] += factor
            return True
        case AffineConstantExpr() | AffineSymExpr():
            return True
        case AffineBinaryOpExpr(AffineBinaryOpKind.Add, lhs, rhs):
            return _add(lhs, factor, row) and _add(rhs, factor, row)
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mul, lhs, AffineConstantExpr(value)):
            return _add(lhs, factor * value, row)
        case _:
            return False
