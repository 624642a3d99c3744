"""Rows of a varying length that compute elementary functions: the last vector is masked.

    for i: for j <= i: A[i][j] = exp(A[i][j])

One by one, what is left of a row takes as long as several vectors: a scalar function waits for
each of its instructions. In long rows, LLVM's vectors side by side, of which it masks none, are
worth more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects import affine
from xdsl.dialects.builtin import AnyFloat

from ...passes.estimate.elementary_functions import OPERATIONS, function_name
from ..loops.operations import operations
from .unrolling import LOOPS, has_vectors, most_iterations, trip_count

if TYPE_CHECKING:
    from ...passes.machine.target import Target

MOST_VECTORS = 16
"""Vectors of the longest row: half as many on average."""


def masks_end(loop: affine.ForOp, target: Target) -> bool:
    """Whether LLVM is to mask the last vector of a loop."""
    inside = operations(loop)[1:]
    if (
        trip_count(loop) is not None
        or has_vectors(loop)
        or not any(function_name(op) in OPERATIONS for op in inside)
        or any(op.name in LOOPS for op in inside)
    ):
        return False
    kinds = {
        op.memref.type.get_element_type()
        for op in inside
        if isinstance(op, affine.LoadOp | affine.StoreOp)
    }
    floats = [kind for kind in kinds if isinstance(kind, AnyFloat)]
    return (
        len(kinds) == len(floats) > 0
        and all(target.has_masked_stores(kind.bitwidth // 8) for kind in floats)
        and most_iterations(loop) <= MOST_VECTORS * min(map(target.lanes, floats))
    )
