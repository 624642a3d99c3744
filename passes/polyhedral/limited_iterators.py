"""Iterators whose values depend on those of others: what is left when others are fixed."""

from __future__ import annotations

import islpy as isl

_SET = isl.dim_type.set


def values_of(points: isl.Set, iterator: int) -> isl.Set:
    """All points at which one iterator has a value that occurs; the others have any."""
    count = points.dim(_SET)
    return points.eliminate(_SET, 0, iterator).eliminate(_SET, iterator + 1, count - iterator - 1)


def missing_points(points: isl.Set, iterator: int) -> isl.Set:
    """The points that are missing to all combinations of an iterator's values with the others'.

    None are where the iterator and the others have their values independently.
    """
    others = points.eliminate(_SET, iterator, 1)
    return others.intersect(values_of(points, iterator)).subtract(points)


def limits(points: isl.Set) -> dict[int, frozenset[int]]:
    """For each iterator of points without parameters, the others that its values depend on.

    Iterators that are independent of all others are left out.
    """
    if points.is_box():
        return {}
    count = points.dim(_SET)
    found: dict[int, frozenset[int]] = {}
    for position in range(count):
        missing = missing_points(points, position)
        if not missing.is_empty():
            # A condition on others alone is none on what is missing.
            others = points.eliminate(_SET, position, 1)
            found[position] = frozenset(
                k for k in range(count) if k != position and not _is_free(missing, others, k)
            )
    return found


def _is_free(missing: isl.Set, others: isl.Set, iterator: int) -> bool:
    """Whether points are missing for all values of an iterator, or for none."""
    return missing.eliminate(_SET, iterator, 1).intersect(others).is_subset(missing)
