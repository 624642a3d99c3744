"""Affine bounds of a loop's values."""

from __future__ import annotations

import islpy as isl

from ...passes.polyhedral.isl_context import TooComplexError, coalesced

_SET = isl.dim_type.set


def limits(values: isl.Set, context: isl.Set) -> tuple[isl.Constraint, ...]:
    """Constraints that bound the last dimension from both sides, for those before it.

    Raises TooComplexError.
    """
    last = values.dim(_SET) - 1
    values = coalesced(values)
    for hull in (isl.Set.simple_hull, isl.Set.convex_hull):
        bounds = hull(hull(values).remove_divs().to_set().gist_params(context))
        found = tuple(
            limit
            for limit in _inequalities(bounds.remove_divs())
            if not limit.get_coefficient_val(_SET, last).is_zero()
        )
        signs = {limit.get_coefficient_val(_SET, last).sgn() for limit in found}
        if len(signs) == 2:
            return found
    # As of {0 <= i <= n} and {n <= i <= 0}: no affine bound is one for all sizes.
    raise TooComplexError("a loop has no affine bounds that hold for all sizes")


def _inequalities(values: isl.BasicSet) -> list[isl.Constraint]:
    result: list[isl.Constraint] = []
    for constraint in values.get_constraints():
        if not constraint.is_equality():
            result.append(constraint)
            continue
        aff = constraint.get_aff()
        result += [isl.Constraint.inequality_from_aff(each) for each in (aff, aff.neg())]
    return result
