"""Places of gathered elements, counted from the first element of their array."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType
from xdsl.ir import SSAValue

from ...dialects.memref import is_memref
from .ir_builder import IRBuilder


def extent(builder: IRBuilder, array: SSAValue, dimension: int) -> SSAValue:
    """The extent of an array, known or not, as an SSA value."""
    assert is_memref(array.type)
    known = array.type.get_shape()[dimension]
    if known != DYNAMIC_INDEX:
        return builder.constant(known, IndexType())
    position = builder.constant(dimension, IndexType())
    return builder.emit(memref.DimOp(array, position)).result


def gather_offsets(
    builder: IRBuilder,
    array: SSAValue,
    subscripts: Sequence[SSAValue],
    broadcast: Callable[[SSAValue], SSAValue],
) -> SSAValue:
    """The places of lanes that are in rows of their own: `(s0 * extent1 + s1) * extent2 + s2`."""

    def combine(kind: type[arith.MuliOp | arith.AddiOp], a: SSAValue, b: SSAValue) -> SSAValue:
        return builder.emit(kind.create(operands=[a, b], result_types=[a.type])).results[0]

    first, *others = map(broadcast, subscripts)
    for dimension, subscript in enumerate(others, start=1):
        row = combine(arith.MuliOp, first, broadcast(extent(builder, array, dimension)))
        first = combine(arith.AddiOp, row, subscript)
    return first
