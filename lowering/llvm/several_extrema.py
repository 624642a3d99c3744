"""Loops that LLVM must not make vectors of: several minima or maxima that leave out NaN.

LLVM 22 leaves such a vector loop early where it meets a NaN. Where there is more than one of them,
as in `p = fmax(p, a[i]); q = fmax(q, b[i])`, or in an unrolled loop of them, results are now and
then wrong after the last whole vector.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import affine, arith, scf
from xdsl.ir import Block, Operation, SSAValue

from ..loops.operations import operations
from .unrolling import LOOPS, linear_results

_LEAVING_OUT_NAN = arith.MaxnumfOp | arith.MinnumfOp


def several_extrema(function: Operation) -> Iterator[SSAValue]:
    """The indices of loops that accumulate more than one such extremum, also by loops inside."""
    for loop in operations(function):
        if not isinstance(loop, affine.ForOp | scf.ForOp):
            continue
        inside = operations(loop)[1:]
        if not any(isinstance(op, _LEAVING_OUT_NAN) for op in inside):
            continue
        count = sum(_is_accumulated(op, loop.body.block) for op in inside)
        if count > 1 or (count and any(op.name in LOOPS for op in inside)):
            yield loop.body.block.args[0]


def _is_accumulated(op: Operation, body: Block) -> bool:
    """Whether a loop hands on an extremum, or stores it where its iterations all do."""
    if not isinstance(op, _LEAVING_OUT_NAN):
        return False
    for use in op.result.uses:
        user = use.operation
        if isinstance(user, affine.StoreOp):
            places = linear_results(user.map.data, user.indices)
            if not any(body.args[0] in place for place in places):
                return True
        elif user.name in ("memref.store", "affine.yield", "scf.yield") or (
            isinstance(user, _LEAVING_OUT_NAN) and _is_accumulated(user, body)
        ):
            return True
    return False
