"""Loops that LLVM must not make vectors of: those that are faster without gathers.

LLVM takes gathers for cheaper than they are: where AVX-512 has them, eight lanes of `A[x[i]]` take
longer than eight loads, and pay only if there is much else to do in vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from xdsl.dialects import affine, arith, memref, scf
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Operation, SSAValue

from ...dialects.arith import IndexCastOp
from ...dialects.memref import INSPECTED
from ...passes.estimate.program_statistics import bytes_of
from ...passes.estimate.strided_accesses import LEAST_SCATTERED
from ...passes.polyhedral.gathers import depends_on_data, is_short_subscript
from ..loops.operations import operations
from .unrolling import LOOPS

if TYPE_CHECKING:
    from ...passes.machine.target import Target

GATHERING_BITS = 512
"""LLVM has gathers of its own for vectors of so many bits; else, and on Zen (`llvm_target.py`), it
loads one after the other.

So it does with short elements in any case, and then takes the subscripts out of vectors before."""

_LANES = 8
_CYCLES: dict[type[Operation], float] = {
    affine.LoadOp: 0.33,
    affine.StoreOp: 0.33,
    memref.LoadOp: 0.33,
    arith.ConstantOp: 0.0,
    IndexCastOp: 0.0,
    arith.DivfOp: 5.0,
    arith.DivSIOp: 8.0,
    arith.DivUIOp: 8.0,
}
_FLOATS = 0.25
_INTEGERS = 0.15
_GATHERED_LANE = 1.5
"""Cycles, as measured on a Zen 4."""


def gathering_loops(
    function: Operation, target: Target, *, reassociates: bool
) -> Iterator[SSAValue]:
    """The indices of loops whose iterations take less time than the lanes of vectors would.

    Sums that are reassociated are made of vectors: there, one addition waits for the other.
    """
    for loop in operations(function):
        if not isinstance(loop, affine.ForOp | scf.ForOp):
            continue
        inside = operations(loop)[1:]
        index = loop.body.block.args[0]
        gathers = sum(_is_gathered(op, index, target) for op in inside)
        if not gathers or (reassociates and len(loop.body.block.args) > 1):
            continue
        scalar = sum(map(_cycles, inside))
        if scalar < gathers * _GATHERED_LANE + scalar / _LANES:
            yield index


def _cycles(op: Operation) -> float:
    if op.name in LOOPS or not op.results:
        return _CYCLES.get(type(op), 0.0)
    is_float = isinstance(op.results[0].type, AnyFloat)
    return _CYCLES.get(type(op), _FLOATS if is_float else _INTEGERS)


def _is_gathered(op: Operation, index: SSAValue, target: Target) -> bool:
    """Whether LLVM would gather what a load has in a loop's lanes: its place depends on data.

    LLVM makes no vectors of comparisons with extents; bytes are never outside of 256 elements, nor
    two of them of 65536.
    """
    if not isinstance(op, memref.LoadOp):
        return False
    if INSPECTED not in op.attributes and not any(map(is_short_subscript, op.indices)):
        return False
    is_long = bytes_of(op.res.type) >= LEAST_SCATTERED
    if is_long and target.vector_bits < GATHERING_BITS:
        return False
    *rows, column = op.indices
    spread = [*rows, column] if depends_on_data(column) else rows
    return any(_depends(value, index) for value in spread)


def _depends(value: SSAValue, index: SSAValue) -> bool:
    """Whether a value is computed from another one."""
    seen, pending = set[SSAValue](), [value]
    while pending:
        each = pending.pop()
        if each is index:
            return True
        if each not in seen and isinstance(each.owner, Operation):
            seen.add(each)
            pending += each.owner.operands
    return False
