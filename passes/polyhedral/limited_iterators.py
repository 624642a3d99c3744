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
    if points.n_basic_set() != 1 or points.get_basic_set_list().get_at(0).dim(isl.dim_type.div):
        every = frozenset(range(count))
        return {k: every - {k} for k in every if not missing_points(points, k).is_empty()}
    found: dict[int, frozenset[int]] = {}
    for part in points.remove_redundancies().get_basic_sets():  # None, where there are no points.
        for constraint in part.get_constraints():
            together = frozenset(k for k in range(count) if involves(constraint, k))
            if len(together) > 1:
                for k in together:
                    found[k] = found.get(k, frozenset()) | together - {k}
    return found


def bounded_sides(points: isl.Set, iterator: int, other: int) -> int:
    """How many of the lower and the upper bound of an iterator depend on another one."""
    sides: set[int] = set()
    for part in points.remove_redundancies().get_basic_sets():
        for constraint in part.get_constraints():
            if involves(constraint, iterator) and involves(constraint, other):
                sides.add(constraint.get_coefficient_val(_SET, iterator).sgn())
    return len(sides)


def involves(constraint: isl.Constraint, iterator: int) -> bool:
    """Whether a constraint is one on an iterator."""
    return not constraint.get_coefficient_val(_SET, iterator).is_zero()
