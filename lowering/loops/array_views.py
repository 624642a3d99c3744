"""Arrays as opaque regions take them: parts of others, and other types of the same."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, StridedLayoutAttr
from xdsl.ir import Attribute, SSAValue

from ...dialects.memref import CastOp, is_memref
from ..nest.index_expression import Index
from .ir_builder import IRBuilder


def row_of(
    builder: IRBuilder,
    array: SSAValue,
    first: Sequence[Index],
    sizes: Sequence[Index],
    kind: Attribute,
) -> SSAValue:
    """The part of an array behind its first subscripts, as an array."""
    assert is_memref(kind)
    if not first:
        return cast_to(builder, array, kind)
    rank = len(sizes)
    extents = [size.constant if size.is_constant else DYNAMIC_INDEX for size in sizes]
    strides = [
        DYNAMIC_INDEX if DYNAMIC_INDEX in extents[k:] else prod(extents[k:])
        for k in range(1, rank + 1)
    ]
    layout = StridedLayoutAttr([None if s == DYNAMIC_INDEX else s for s in strides], None)
    view = memref.SubviewOp(
        array,
        [builder.value(index) for index in first],
        [builder.value(size) for size in sizes if not size.is_constant],
        [],
        [*(DYNAMIC_INDEX for _ in first), *(0 for _ in sizes)],
        [*(1 for _ in first), *extents],
        [1] * (len(first) + rank),
        MemRefType(kind.element_type, extents, layout),
    )
    return cast_to(builder, builder.emit(view).result, kind)


def cast_to(builder: IRBuilder, array: SSAValue, kind: Attribute) -> SSAValue:
    """The array with the type that an opaque region takes."""
    if array.type == kind:
        return array
    return builder.emit(CastOp.build(operands=[array], result_types=[kind])).dest
