"""Software prefetching of accumulators: elements that the next register tile begins with.

    for j step 64:                          for j step 64:
      c = C[i, j]                             c = C[i, j]
      for k: c = c + A[i, k] * B[k, j]   ->   prefetch C[i, j + 64]
      C[i, j] = c                             for k: c = c + A[i, k] * B[k, j]
                                              C[i, j] = c

The rows of a register tile are a few cache lines each, too far apart for the prefetchers of the
processor. They come while the loop over k computes; where that is long, waiting for them is little.
"""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.ir import SSAValue

from ...dialects import affine
from ...passes.estimate.program_statistics import bytes_of
from ...passes.machine.target import Target
from ..loops.alias_analysis import Numbering, Place
from ..loops.operations import operations
from .software_prefetching import enclosing, insert_prefetch, large_arrays

LEAST_ITERATIONS = 32
"""Of the loop that accumulates: memory takes longer than a shorter one."""

MOST_ITERATIONS = 96
"""Products of 64 columns gain a sixth, those of 144 nothing."""


def prefetch_accumulators(function: func.FuncOp, target: Target) -> None:
    """Adds prefetches of accumulators of arrays that no cache holds, in place."""
    large = {*large_arrays(function, target.capacity(max(target.caches, default=0)))}
    if not large:
        return
    numbering = Numbering()
    for loop in [op for op in operations(function) if isinstance(op, affine.ForOp) and op.inits]:
        if not _hides_a_tile(loop, numbering):
            continue
        lines = set[object]()
        for initial, result in zip(loop.inits, loop.results, strict=True):
            place = _accumulated(initial, result, large, numbering)
            if place is not None:
                _prefetch_next(initial, place, lines, numbering, target.cache_line)


def _hides_a_tile(loop: affine.ForOp, numbering: Numbering) -> bool:
    """Whether a loop is long enough for prefetches, and short enough to need them."""
    lowers = numbering.results(loop.lowerBoundMap, loop.lowerBoundOperands)
    uppers = numbering.results(loop.upperBoundMap, loop.upperBoundOperands)
    extents = [upper - lower for upper in uppers for lower in lowers]
    constants = [extent.constant for extent in extents if extent.is_constant]
    step = loop.step.value.data
    return LEAST_ITERATIONS <= min(constants, default=0) // step <= MOST_ITERATIONS


def _accumulated(
    initial: SSAValue, result: SSAValue, arrays: set[SSAValue], numbering: Numbering
) -> Place | None:
    """Where a value is loaded from before a loop and stored to behind it."""
    load = initial.owner
    if not isinstance(load, affine.VectorLoadOp) or load.memref not in arrays:
        return None
    place = numbering.place(load)
    stores = [use.operation for use in result.uses]
    if len(stores) != 1 or not isinstance(stores[0], affine.VectorStoreOp):
        return None
    return place if numbering.place(stores[0]) == place else None


def _prefetch_next(
    initial: SSAValue, place: Place, lines: set[object], numbering: Numbering, line: int
) -> None:
    """Asks for what the next iteration of the innermost loop that moves a place finds there.

    Once for each cache line; `lines` are those that are asked for.
    """
    load = initial.owner
    assert isinstance(load, affine.VectorLoadOp)
    block = load.parent
    assert block is not None
    for loop in enclosing(block, numbering):
        distances = {
            dimension: loop.step * coefficient
            for dimension, subscript in enumerate(place.subscripts)
            if (coefficient := subscript.coefficient(loop.variable) or 0)
        }
        if distances:
            break
    else:
        return
    *outer, last = place.subscripts
    per_line = max(1, line // bytes_of(load.result.type.element_type))
    key = (*outer, frozenset(last.terms), last.constant // per_line)
    if key not in lines:
        lines.add(key)
        insert_prefetch(load, distances, is_write=True)
