"""Strategy: tensor contractions with lanes down a column of the result.

A convolution with a stride reads every other element of a row: what lies in a vector of the result
does not lie in a vector of the image. But neighbouring features do in the weights, once they are
packed. The block of accumulators is transposed where it is loaded and stored.
"""

from __future__ import annotations

from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Tree
from ..schedules.schedule import Schedule
from .tensor_contraction import tensor_contraction


def transposed_contraction(
    schedule: Schedule, nest: Tree, context: SchedulingContext
) -> Schedule | None:
    """Register tile, panels and vectors along a loop that goes down columns of the result.

    for f: for x: for k: C[f, x] += W[f, k] * A[2 * x + k]
    ->  pack W: for xt: for ft: pack C: for k: 6 x 16 block of C's transpose in registers; unpack C
    """
    return tensor_contraction(schedule, nest, context, transposed=True)
