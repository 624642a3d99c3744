"""isl's quasi-affine functions as indices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from .index_expression import Index

_IN = isl.dim_type.in_


def aff_to_index(aff: isl.Aff, inputs: Sequence[Index], parameters: Mapping[str, Index]) -> Index:
    """The function at the given values of its input dimensions and parameters."""
    denominator = aff.get_denominator_val().to_python()
    total = Index(_scaled(aff.get_constant_val(), denominator))
    for position, value in enumerate(inputs):
        total = total + value * _scaled(aff.get_coefficient_val(_IN, position), denominator)
    for position in range(aff.dim(isl.dim_type.param)):
        coefficient = _scaled(aff.get_coefficient_val(isl.dim_type.param, position), denominator)
        if coefficient:
            name = aff.get_dim_name(isl.dim_type.param, position)
            assert name is not None, "parameters have names"
            total = total + parameters[name] * coefficient
    for position in range(aff.dim(isl.dim_type.div)):
        coefficient = _scaled(aff.get_coefficient_val(isl.dim_type.div, position), denominator)
        if coefficient:
            quotient = aff_to_index(aff.get_div(position), inputs, parameters)
            total = total + quotient * coefficient
    return total // denominator


def _scaled(value: isl.Val, denominator: int) -> int:
    return value.mul(isl.Val(denominator)).to_python()
