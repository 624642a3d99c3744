"""Gathers whose lanes are in rows of their own, and whose subscripts are compared in vectors.

x = A[i, j]    ->    inside = 0 <= i < M and 0 <= j < N        of all lanes
                     if not all inside: for lane: A[i, j], checked: notes the first one outside
                     x = gather A[i * N + j] in the lanes inside
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, memref
from xdsl.dialects import vector as xdsl_vector
from xdsl.dialects.builtin import (
    AffineMapAttr,
    IndexType,
    IntegerAttr,
    UnitAttr,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineMap

from ...dialects import affine
from ...dialects.vector import is_vector
from ...passes.polyhedral.gathers import CHECKED
from .gather_offsets import extent
from .ir_builder import IRBuilder


def lanes_inside(
    builder: IRBuilder,
    array: SSAValue,
    subscripts: Sequence[SSAValue],
    mask: SSAValue,
    width: int,
    broadcast: Callable[[SSAValue], SSAValue],
) -> SSAValue:
    """The lanes of a mask in which an element exists; that of the first other one is noted."""
    inside = mask
    for dimension, subscript in enumerate(subscripts):
        limit = extent(builder, array, dimension)
        if is_vector(subscript.type):
            limit = broadcast(limit)
        # Compared without signs, a negative number is larger than any extent.
        holds = broadcast(builder.emit(arith.CmpiOp(subscript, limit, "ult")).result)
        inside = builder.emit(arith.AndIOp(inside, holds)).result
    outside = builder.emit(arith.XOrIOp(mask, inside)).result
    some = builder.emit(_reduction(outside)).results[0]

    def note(lane: SSAValue) -> None:
        def load() -> None:
            places = [_lane(builder, each, lane) for each in subscripts]
            checked = memref.LoadOp.get(array, places)
            checked.attributes[CHECKED] = UnitAttr()
            builder.emit(checked)

        builder.when(_lane(builder, outside, lane), load)

    def note_all() -> None:
        block = Block(arg_types=[IndexType()])
        builder.filled(block, lambda: note(block.args[0]), affine.YieldOp.get)
        first, end = (AffineMapAttr(AffineMap.constant_map(k)) for k in (0, width))
        loop = affine.ForOp.from_region([], [], [], [], first, end, Region(block), 1)
        loop.attributes["llvm.unroll"] = IntegerAttr(1, i64)  # It hardly ever runs.
        builder.emit(loop)

    builder.when(some, note_all)
    return inside


def _reduction(lanes: SSAValue) -> xdsl_vector.ReductionOp:
    """Whether any lane holds."""
    return xdsl_vector.ReductionOp.create(
        operands=[lanes],
        result_types=[i1],
        properties={
            "kind": xdsl_vector.CombiningKindAttr(xdsl_vector.CombiningKindFlag.OR),
            "fastmath": arith.FastMathFlagsAttr("none"),
        },
    )


def _lane(builder: IRBuilder, value: SSAValue, lane: SSAValue) -> SSAValue:
    if not is_vector(value.type):
        return value
    assert isinstance(value.type, VectorType)
    return builder.emit(xdsl_vector.ExtractOp(value, [lane], value.type.element_type)).result
