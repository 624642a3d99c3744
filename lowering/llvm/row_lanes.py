"""Lanes of gathers and scatters in rows of their own, of which blocks can be transposed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from xdsl.dialects.builtin import Float32Type, Float64Type, IntegerType
from xdsl.ir import Attribute, SSAValue

from ...dialects.arith import constant_lanes
from ...dialects.vector import GatherOp, ScatterOp, is_vector
from ...passes.estimate.strided_accesses import BLOCK_ROWS, BLOCKS, LEAST_BLOCK_BITS
from ..loops.alias_analysis import Numbering
from ..memory.known_lanes import column_of, lanes_of
from ..nest.index_expression import Index

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


@dataclass(frozen=True)
class RowsApart:
    """Where gathers or scatters begin but for a constant, their type and lanes.

    Rows of as many columns as a block has have no elements in common.
    """

    place: tuple[Index, ...]
    kind: Attribute
    lanes: RowLanes

    def meet(self, one: int, other: int) -> bool:
        """Whether vectors from two columns on may have elements in common."""
        return not 0 < abs(one - other) < self.lanes.block


def rows_apart(
    operation: GatherOp | ScatterOp, numbering: Numbering, vector_bits: int
) -> tuple[RowsApart, int] | None:
    """Rows and first column of a gather or scatter of rows that are far apart; else None."""
    kind = operation.operands[-1].type
    lanes = row_lanes(operation.index_vec, operation.mask, kind, vector_bits)
    if lanes is None:
        return None
    pairs = zip(lanes.offsets, lanes.active, strict=True)
    starts = [offset for offset, is_active in pairs if is_active]
    if any(abs(a - b) < lanes.block for a, b in combinations(starts, 2)):
        return None
    place, column = column_of(operation, numbering)
    return RowsApart(place, kind, lanes), column


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
