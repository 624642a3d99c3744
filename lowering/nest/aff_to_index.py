"""isl's quasi-affine functions as indices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import islpy as isl

from ...passes.polyhedral.aff_expression import aff_expression
from .index_expression import Comparison, Connective, Index, linear_form


def aff_form(aff: isl.Aff, inputs: int, parameters: Iterable[str]) -> Index:
    """The function of variables that are positions: of its inputs, then of its parameters."""
    symbols = {name: position for position, name in enumerate(parameters)}
    return linear_form(aff_expression(aff, symbols), inputs)


def aff_to_index(aff: isl.Aff, inputs: Sequence[Index], parameters: Mapping[str, Index]) -> Index:
    """The function at the given values of its input dimensions and parameters."""
    values = dict(enumerate((*inputs, *parameters.values())))
    return aff_form(aff, len(inputs), parameters).substitute(values)


def constraints_to_condition(
    where: isl.BasicSet, dimensions: Sequence[Index], parameters: Mapping[str, Index]
) -> Connective:
    """Whether the dimensions have values in a set."""
    return Connective(
        "all",
        tuple(
            Comparison(
                "==" if each.is_equality() else ">=",
                aff_to_index(each.get_aff(), dimensions, parameters),
            )
            for each in where.get_constraints()
        ),
    )
