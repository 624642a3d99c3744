"""Strategy: tensor contractions whose terms read several operands along the vectors.

Complex matrices in two planes have products of real and imaginary parts in each term; a gradient
of a factorisation multiplies rows of several factors.
"""

from __future__ import annotations

from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Tree
from ..schedules.schedule import Schedule
from .tensor_contraction import tensor_contraction

MOST_STREAMS = 4
"""Operands that are read along the vectors of a result: each takes registers from the others."""


def multi_operand_contraction(
    schedule: Schedule, nest: Tree, context: SchedulingContext
) -> Schedule | None:
    """Register tile, panels of each operand, vectors and threads.

    for i: for j: for k: C[i, j] += A[i, k] * B[k, j] - D[i, k] * E[k, j]
    ->  parallel it: for jt: pack B, E: for it2: for k: 6 x 24 block of C in registers
    """
    return tensor_contraction(schedule, nest, context, streams=MOST_STREAMS)
