"""Orders of a program in which sums of products have no offsets: zero points of quantised layers.

What is loaded is then multiplied as it is, in pairs of short integers (`integer_products.py`).
"""

from __future__ import annotations

from ..polyhedral.offset_products import is_short, offset_product
from ..schedules.schedule import Schedule
from ..transformations.separate_offsets import SeparateOffsets
from .integer_products import FACTOR_BITS
from .steps import attempt


def separated_offsets(schedule: Schedule) -> Schedule | None:
    """The program with offsets of short integers multiplied out; None if there are none.

    s[i, j] += (A[i, k] - u) * B[k, j]     ->     s[i, j] -= u * Q[j]; s[i, j] += A[i, k] * B[k, j]
    """
    if not schedule.target.adds_products_in_pairs or schedule.scop.opaque_statements:
        return None
    result = schedule
    for name, accumulation in schedule.dependences.accumulations.items():
        found = offset_product(schedule.scop.statement(name), accumulation)
        if found is not None and all(is_short(each, FACTOR_BITS) for each in found.factors):
            result = attempt(result, SeparateOffsets(statements=(name,))) or result
    return None if result is schedule else result
