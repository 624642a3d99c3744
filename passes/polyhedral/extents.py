"""Inference of array extents from the accesses."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from .counting import fix_parameters
from .isl_context import bounded_for
from .scop import Array, Scop


def infer_extents(scop: Scop, sizes: Mapping[str, int]) -> dict[str, int]:
    """`sizes` and every extent of an array argument that follows from them.

    `sizes` gives values of parameters and extents by name. An extent that is not given becomes the
    smallest one with which no access leaves the array; it stays unknown where the accesses depend
    on other sizes that are not known.
    """
    known = dict(sizes)
    with bounded_for(scop.func, f"the extents of '@{scop.name}'"):
        while True:
            found = {
                extent: size
                for array in scop.arrays
                if array.argument is not None
                for dimension, extent in enumerate(array.shape)
                if isinstance(extent, str) and extent not in known
                if (size := _needed(scop, array, dimension, known)) is not None
            }
            if not found:
                return known
            known.update(found)


def _needed(scop: Scop, array: Array, dimension: int, sizes: Mapping[str, int]) -> int | None:
    """The extent that all accesses need; None when they are not bounded by the known sizes.

    Without any access, nothing is known of an extent by which the program goes.
    """
    accesses = [a for s in scop.statements for a in s.accesses if a.array is array]
    if not accesses and array.shape[dimension] in [p.name for p in scop.parameters]:
        return None
    needed = 0
    for access in accesses:
        elements = fix_parameters(access.relation.range(), sizes)
        if elements.is_empty():
            continue
        elements = elements.project_out(isl.dim_type.param, 0, elements.dim(isl.dim_type.param))
        largest = elements.dim_max_val(dimension)
        if not largest.is_int():
            return None
        needed = max(needed, largest.to_python() + 1)
    return needed
