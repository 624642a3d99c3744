"""Rows of few elements in the lanes of gathers and scatters, as pixels of several channels."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from xdsl.ir import Attribute, SSAValue

from ...dialects.arith import constant_lanes
from ...dialects.vector import GatherOp, ScatterOp, is_vector
from ...passes.estimate.program_statistics import bytes_of
from ...passes.estimate.strided_accesses import masks_columns
from ..loops.alias_analysis import Numbering
from ..nest.index_expression import Index
from .known_lanes import column_of, stride_of, varying_mask


@dataclass(frozen=True)
class InterleavedRow:
    """Where gathers or scatters begin but for a constant, their memref, type, stride and mask."""

    memref: SSAValue
    place: tuple[Index, ...]
    kind: Attribute
    stride: int
    mask: SSAValue | None

    def meet(self, one: int, other: int) -> bool:
        """Whether vectors from two columns on have elements in common."""
        assert is_vector(self.kind)
        apart = abs(one - other)
        return apart % self.stride == 0 and apart < self.stride * self.kind.get_shape()[0]

    def are_worth_a_mask(self, columns: int) -> bool:
        """Whether rows are written under a mask: half of them, or what there are no scatters of."""
        assert is_vector(self.kind)
        return masks_columns(columns, self.stride, bytes_of(self.kind.element_type))

    def whole(self, columns: Container[int], column: int) -> range | None:
        """The columns of a row with this one, where all are among some columns; else None."""
        firsts = range(column - self.stride + 1, column + 1)
        rows = (range(first, first + self.stride) for first in firsts)
        return next((row for row in rows if all(each in columns for each in row)), None)


def interleaved_row(
    operation: GatherOp | ScatterOp, numbering: Numbering
) -> tuple[InterleavedRow, int] | None:
    """Row and first column of a gather or scatter with a small positive stride."""
    stride = stride_of(constant_lanes(operation.index_vec))
    if stride is None or stride < 2:
        return None
    place, column = column_of(operation, numbering)
    mask = varying_mask(operation.mask)
    return InterleavedRow(operation.base, place, operation.operands[-1].type, stride, mask), column
