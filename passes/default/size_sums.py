"""Sums of multiples of sizes, for places where loops are cut."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from ..polyhedral.isl_context import coalesced

SizeSum = Mapping[str, int]
"""A sum of multiples of sizes by name, and of a constant under the empty name."""


def size_sum(value: isl.PwAff) -> SizeSum | None:
    """The value as a sum of multiples of sizes; None where it is none."""
    pieces: list[isl.Aff] = []
    coalesced(value).foreach_piece(lambda _, aff: pieces.append(aff))
    if len(pieces) != 1 or pieces[0].dim(isl.dim_type.div):
        return None
    (aff,) = pieces
    constant = aff.get_constant_val()
    found = {
        aff.get_dim_name(isl.dim_type.param, k): aff.get_coefficient_val(isl.dim_type.param, k)
        for k in range(aff.dim(isl.dim_type.param))
    }
    if not constant.is_int() or not all(factor.is_int() for factor in found.values()):
        return None
    named = {name: f.to_python() for name, f in found.items() if name and not f.is_zero()}
    return {**named, "": constant.to_python()}


def sum_of(*bounds: SizeSum) -> dict[str, int]:
    """The sum of sums."""
    names = dict.fromkeys(name for bound in bounds for name in bound)
    return {name: sum(bound.get(name, 0) for bound in bounds) for name in names}
