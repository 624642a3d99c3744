"""What is constant of the lanes of a gather or scatter: offsets, strides and masks."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import arith
from xdsl.dialects import vector as xdsl_vector
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr
from xdsl.ir import SSAValue

from ...dialects.arith import constant_lanes
from ...dialects.memref import is_memref
from ...dialects.vector import ConstantMaskOp, GatherOp, ScatterOp, is_vector
from ...passes.estimate.strided_accesses import LARGEST_ROW
from ..loops.alias_analysis import Numbering
from ..nest.index_expression import Index


def stride_of(offsets: Sequence[int] | None) -> int | None:
    """How far the lanes are apart, if that is the same for all and small, and not 0 or 1."""
    if offsets is None or len(offsets) < 2:
        return None
    stride = offsets[1] - offsets[0]
    even = all(offset == lane * stride for lane, offset in enumerate(offsets))
    return stride if even and stride not in (0, 1) and abs(stride) <= LARGEST_ROW else None


def lanes_of(mask: SSAValue) -> tuple[bool, ...] | None:
    """Which lanes a mask leaves on; None if that is not constant."""
    assert is_vector(mask.type)
    count = mask.type.get_shape()[0]
    match mask.owner:
        case arith.ConstantOp():
            numbers = constant_lanes(mask)
            return None if numbers is None else tuple(map(bool, numbers))
        case ConstantMaskOp() as constant:
            (size,) = constant.mask_dim_sizes.get_values()
        case xdsl_vector.CreateMaskOp() as created:
            owner = created.mask_dim_sizes[0].owner
            if not isinstance(owner, arith.ConstantOp) or not isinstance(owner.value, IntegerAttr):
                return None
            size = owner.value.value.data
        case _:
            return None
    return tuple(lane < size for lane in range(count))


def varying_mask(mask: SSAValue) -> SSAValue | None:
    """A mask that may leave lanes off; None for one that leaves all of them on."""
    active = lanes_of(mask)
    return None if active is not None and all(active) else mask


def column_of(
    operation: GatherOp | ScatterOp, numbering: Numbering
) -> tuple[tuple[Index, ...], int]:
    """Where a gather or scatter begins: a place that others share, and elements from there on.

    The place is one sum where the extents are known, so that pixels in two rows of a small array,
    as `A[2 * i, 0]` and `A[2 * i + 1, 0]`, share it; else subscripts.
    """
    subscripts = [numbering.index(value) for value in operation.indices]
    kind = operation.base.type
    assert is_memref(kind)
    extents = kind.get_shape()
    if DYNAMIC_INDEX not in extents[1:]:
        pitches = (prod(extents[position + 1 :]) for position in range(len(extents)))
        products = (each * pitch for each, pitch in zip(subscripts, pitches, strict=True))
        subscripts = [sum(products, Index())]
    *outer, last = subscripts
    return (*outer, last - last.constant), last.constant
