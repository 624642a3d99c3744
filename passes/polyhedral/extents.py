"""Inference of array extents from the accesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from .counting import fix_parameters
from .gathered_extents import extent_of_ranges
from .gathers import gathered_arguments
from .isl_context import bounded_for
from .scop import Array, Scop
from .size_assumptions import equal_sizes, least_sizes


def infer_extents(scop: Scop, sizes: Mapping[str, int]) -> dict[str, int]:
    """`sizes` and every extent of an array argument that follows from them.

    `sizes` gives values of parameters and extents by name. An extent that is not given becomes the
    smallest one with which no access leaves the array and that the function is for, the same for
    those that it takes to be equal; it stays unknown where the accesses depend on other sizes that
    are not known.
    """
    known = dict(sizes)
    groups = equal_sizes(scop.func)
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
            for extent, least in least_sizes(scop.func, known):
                found[extent] = max(found.get(extent, 0), least)
            equal = _equal(groups, known, found)
            if not found and not equal:
                return known
            known.update(found | equal)


def _equal(
    groups: Sequence[frozenset[str]], known: Mapping[str, int], found: Mapping[str, int]
) -> dict[str, int]:
    """Sizes that are equal to one that is known, else to the largest that is `found`."""
    equal: dict[str, int] = {}
    for group in groups:
        values = [known[name] for name in group if name in known]
        largest = max((found[name] for name in group if name in found), default=None)
        value = values[0] if values else largest
        if value is not None:
            equal |= {name: value for name in group if name not in known}
    return equal


def _needed(scop: Scop, array: Array, dimension: int, sizes: Mapping[str, int]) -> int | None:
    """The extent that all accesses need; None when they are not bounded by the known sizes.

    Without any access, nothing is known of an extent by which the program goes; nor where the
    subscripts may be any integers.
    """
    accesses = [a for s in scop.statements for a in s.accesses if a.array is array]
    affine = [access for access in accesses if dimension not in access.unknown]
    needed = 0
    if len(affine) < len(accesses) or array.argument in gathered_arguments(scop):
        ranges = extent_of_ranges(scop, array, dimension, sizes)
        if ranges is None:
            return None
        needed = ranges
    elif not accesses and array.shape[dimension] in [p.name for p in scop.parameters]:
        return None
    for access in affine:
        elements = fix_parameters(access.relation.range(), sizes)
        if elements.is_empty():
            continue
        elements = elements.project_out(isl.dim_type.param, 0, elements.dim(isl.dim_type.param))
        largest = elements.dim_max_val(dimension)
        if not largest.is_int():
            return None
        needed = max(needed, largest.to_python() + 1)
    return needed
