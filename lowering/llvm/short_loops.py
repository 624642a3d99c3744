"""Loops along which LLVM is told to make no vectors.

LLVM writes a short loop out before it looks for vectors, and then makes them along the loop around
it, even where accesses jump along that one and follow each other along the short one:

    for i: for j < 14: B[i][j] = A[i][j]  ->  gathers and scatters of 8 rows, for each j

Told not to, it makes vectors of what it has written out. Of 71 random programs whose time changed,
65 are faster, 2.4 times in the geometric mean of all (docs/architecture.md).
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import affine
from xdsl.ir import SSAValue

from .unrolling import LOOPS, Linear, linear_results, trip_count

SHORTEST = 4
"""Iterations of a loop of which vectors can be made once it is written out."""

FAR = 2
"""Accesses jump that move by so many elements, or more."""


def is_for_inner_vectors(op: affine.ForOp | affine.ParallelOp, index: SSAValue, step: int) -> bool:
    """Whether an innermost loop inside of `op` is the better one to make vectors along.

    Along that of `index`, which grows by `step`, more accesses jump, and fewer follow each other.
    """
    for loop in op.body.walk():
        if not isinstance(loop, affine.ForOp) or _has_loops(loop):
            continue
        trips = trip_count(loop)
        if trips is not None and trips < SHORTEST:
            continue
        inner = list(_steps(loop, loop.body.block.args[0], loop.step.value.data))
        outer = list(_steps(loop, index, step))
        if inner.count(1) > outer.count(1) and inner.count(FAR) < outer.count(FAR):
            return True
    return False


def _has_loops(op: affine.ForOp) -> bool:
    return any(inner.name in LOOPS for inner in op.body.walk())


def _steps(loop: affine.ForOp, index: SSAValue, step: int) -> Iterator[int]:
    """By how many elements each access moves where `index` grows by `step`, up to `FAR`."""
    for access in loop.body.walk():
        if isinstance(access, affine.LoadOp | affine.StoreOp):
            results = linear_results(access.map.data, access.indices)
            *rows, element = [_coefficient(result, index) for result in results] or [0]
            yield FAR if any(rows) else min(element * step, FAR)


def _coefficient(result: Linear, index: SSAValue) -> int:
    """The absolute coefficient of `index`; `FAR` where it is in a term that is not linear."""
    if any(isinstance(term, tuple) and index in term[1] for term in result):
        return FAR
    return abs(result.get(index, 0))
