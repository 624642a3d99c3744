"""Points of sets that show what holds in them."""

from __future__ import annotations

from contextlib import suppress

import islpy as isl


def first_point(points: isl.Set) -> isl.Point:
    """The first point in lexicographic order of a set that has one; else any one of it.

    isl's `lexmin` fails on some sets with strides, or is empty: there, coordinates are fixed one by
    one.
    """
    with suppress(isl.Error):
        first = points.lexmin().sample_point()
        if not first.is_void():
            return first
    for position in range(points.dim(isl.dim_type.set)):
        least = points.dim_min_val(position)
        fixed = points.fix_val(isl.dim_type.set, position, least) if least.is_int() else points
        if not least.is_int() or fixed.is_empty():
            break
        points = fixed
    return points.sample_point()
