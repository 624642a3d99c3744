"""Points of sets that show what holds in them."""

from __future__ import annotations

import islpy as isl


def first_point(points: isl.Set) -> isl.Point:
    """The first point in lexicographic order of a set that has one; else any one of it.

    isl's `lexmin` fails on some sets with strides: there, coordinates are fixed one by one.
    """
    try:
        return points.lexmin().sample_point()
    except isl.Error:
        for position in range(points.dim(isl.dim_type.set)):
            least = points.dim_min_val(position)
            if not least.is_int():
                break
            points = points.fix_val(isl.dim_type.set, position, least)
        return points.sample_point()
