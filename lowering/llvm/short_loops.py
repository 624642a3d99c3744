"""Loops along which LLVM is told to make no vectors.

LLVM writes a short loop out before it looks for vectors, and then makes them along the loop around
it, even where accesses jump along that one and follow each other along the short one:

    for i: for j < 14: B[i][j] = A[i][j]  ->  gathers and scatters of 8 rows, for each j

Told not to, it makes vectors of what it has written out. Of 71 random programs whose time changed,
65 are faster, 2.4 times in the geometric mean of all (docs/architecture.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import affine
from xdsl.ir import Operation, SSAValue

from ..operations import operations
from .unrolling import LOOPS, Linear, linear_results, trip_count

SHORTEST = 4
"""Iterations of a loop of which vectors can be made once it is written out."""

FAR = 2
"""Accesses jump that move by so many elements, or more."""


def indices_without_vectors(function: Operation) -> Iterator[SSAValue]:
    """The indices of loops inside of which an innermost one is the better one for vectors.

    Along the loop of such an index more accesses jump, and fewer follow each other.
    """
    loops = [op for op in operations(function) if op.name in LOOPS]
    outer = {around for loop in loops for around in _around(loop)}
    for loop in loops:
        if not isinstance(loop, affine.ForOp) or loop in outer:
            continue
        trips = trip_count(loop)
        if trips is not None and trips < SHORTEST:
            continue
        accesses = [
            linear_results(access.map.data, access.indices)
            for access in operations(loop)
            if isinstance(access, affine.LoadOp | affine.StoreOp)
        ]
        inner = [_moved(access, *_indices(loop)[0]) for access in accesses]
        for around in _around(loop):
            for index, step in _indices(around):
                steps = [_moved(access, index, step) for access in accesses]
                if inner.count(1) > steps.count(1) and inner.count(FAR) < steps.count(FAR):
                    yield index


def _around(op: Operation) -> Iterator[Operation]:
    """The operations around another one, from the inside outwards."""
    while (parent := op.parent_op()) is not None:
        yield parent
        op = parent


def _indices(op: Operation) -> list[tuple[SSAValue, int]]:
    """The indices of an affine loop, and by how much each grows."""
    match op:
        case affine.ForOp():
            return [(op.body.block.args[0], op.step.value.data)]
        case affine.ParallelOp():
            steps = (step.value.data for step in op.steps)
            return list(zip(op.body.block.args, steps, strict=True))
        case _:
            return []


def _moved(access: Sequence[Linear], index: SSAValue, step: int) -> int:
    """By how many elements an access moves where `index` grows by `step`, up to `FAR`."""
    *rows, element = [_coefficient(result, index) for result in access] or [0]
    return FAR if any(rows) else min(element * step, FAR)


def _coefficient(result: Linear, index: SSAValue) -> int:
    """The absolute coefficient of `index`; `FAR` where it is in a term that is not linear."""
    if any(isinstance(term, tuple) and index in term[1] for term in result):
        return FAR
    return abs(result.get(index, 0))
