"""isl's quasi-affine functions as affine expressions."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl
from xdsl.ir.affine import AffineExpr

_IN, _PARAM, _DIV = isl.dim_type.in_, isl.dim_type.param, isl.dim_type.div


def aff_expression(aff: isl.Aff, symbols: Mapping[str, int]) -> AffineExpr:
    """The function over its input dimensions (dims) and parameters (symbols, by name)."""
    denominator = aff.get_denominator_val()

    def numerator(value: isl.Val) -> int:
        return value.mul(denominator).to_python()

    total = AffineExpr.constant(numerator(aff.get_constant_val()))
    for position in range(aff.dim(_IN)):
        coefficient = numerator(aff.get_coefficient_val(_IN, position))
        if coefficient:
            total = total + AffineExpr.dimension(position) * coefficient
    for position in range(aff.dim(_PARAM)):
        coefficient = numerator(aff.get_coefficient_val(_PARAM, position))
        name = aff.get_dim_name(_PARAM, position)
        if coefficient:
            assert name is not None, "parameters have names"
            total = total + AffineExpr.symbol(symbols[name]) * coefficient
    for position in range(aff.dim(_DIV)):
        coefficient = numerator(aff.get_coefficient_val(_DIV, position))
        if coefficient:
            total = total + aff_expression(aff.get_div(position), symbols) * coefficient
    divisor = denominator.to_python()
    return total if divisor == 1 else total // divisor
