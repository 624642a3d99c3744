"""Lanes of gathers and scatters in rows of their own, of which blocks can be transposed."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import Float32Type, Float64Type, IntegerType
from xdsl.ir import Attribute, SSAValue

from ...dialects.arith import constant_lanes
from ...dialects.vector import is_vector
from ...passes.estimate.strided_accesses import BLOCK_ROWS, BLOCKS, LEAST_BLOCK_BITS
from .known_lanes import lanes_of

ELEMENT_BITS = (8, 16, 32, 64)


@dataclass(frozen=True)
class RowLanes:
    """Lanes in rows of their own: where these start, in elements, and which lanes are active.

    So many of them at a time as `block` says are the rows of a block that is transposed.
    """

    offsets: tuple[int, ...]
    active: tuple[bool, ...]
    block: int

    @property
    def blocks(self) -> list[list[int]]:
        """The numbers of the lanes, block by block."""
        lanes = range(len(self.offsets))
        return [list(lanes[k : k + self.block]) for k in lanes[:: self.block]]


def row_lanes(
    offsets: SSAValue, mask: SSAValue, kind: Attribute, vector_bits: int
) -> RowLanes | None:
    """The rows of the lanes of a gather or scatter, of which blocks can be transposed.

    None where these are not constant.
    """
    assert is_vector(kind)
    bits = _bits(kind.element_type)
    if bits not in ELEMENT_BITS:
        return None
    count = kind.get_shape()[0]
    block = min(count, max(LEAST_BLOCK_BITS, vector_bits) // bits)
    if block not in BLOCK_ROWS or count not in [block * blocks for blocks in BLOCKS]:
        return None
    known, active = constant_lanes(offsets), lanes_of(mask)
    return None if known is None or active is None else RowLanes(known, active, block)


def _bits(element: Attribute) -> int | None:
    match element:
        case Float32Type():
            return 32
        case Float64Type():
            return 64
        case IntegerType():
            return element.width.data
        case _:
            return None
