"""Columns of rows that are updated in place: loads of some commute with stores to others.

a = gather A[i ... i + 3][j]
scatter A[i ... i + 3][j], f(a)
b = gather A[i ... i + 3][j + 1]        may stand before the scatter, or this behind it
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.memref import behind_casts
from ...dialects.vector import GatherOp, ScatterOp
from ..loops.alias_analysis import Numbering
from ..nest.index_expression import Index
from .known_lanes import column_of
from .row_lanes import RowLanes, row_lanes


@dataclass(frozen=True)
class Rows:
    """Where gathers or scatters begin but for a constant, their type and lanes."""

    place: tuple[Index, ...]
    kind: Attribute
    lanes: RowLanes

    @property
    def are_apart(self) -> bool:
        """Whether rows of as many columns as a block has have no elements in common."""
        pairs = zip(self.lanes.offsets, self.lanes.active, strict=True)
        starts = [offset for offset, is_active in pairs if is_active]
        return all(abs(a - b) >= self.lanes.block for a, b in combinations(starts, 2))


def rows_apart(
    operation: Operation, numbering: Numbering, vector_bits: int
) -> tuple[Rows, int] | None:
    """Rows and first column of a gather or scatter of rows that are far apart; else None."""
    match operation:
        case GatherOp():
            kind = operation.result.type
        case ScatterOp():
            kind = operation.value_to_store.type
        case _:
            return None
    lanes = row_lanes(operation.index_vec, operation.mask, kind, vector_bits)
    if lanes is None:
        return None
    place, column = column_of(operation, numbering)
    rows = Rows(place, kind, lanes)
    return (rows, column) if rows.are_apart else None


class UpdatedColumns:
    """What has been scattered along a block, to columns of the same rows of a memref."""

    def __init__(self, numbering: Numbering, vector_bits: int) -> None:
        self._numbering = numbering
        self._vector_bits = vector_bits
        self._stored: dict[SSAValue, tuple[Rows, set[int]]] = {}

    def commutes(self, operation: GatherOp | ScatterOp) -> bool:
        """Goes on behind an access; whether it commutes with the scatters before.

        Gathers of other columns do. Scatters to the same rows do as far as such gathers see them.
        Behind other accesses, all begins anew.
        """
        memory = behind_casts(operation.base)
        found = rows_apart(operation, self._numbering, self._vector_bits)
        rows, columns = self._stored.get(memory, (None, set[int]()))
        if isinstance(operation, GatherOp):
            if rows is None or (found is not None and _is_another(*found, rows, columns)):
                return True
            del self._stored[memory]
            return False
        if found is None:
            self._stored.pop(memory, None)
            return False
        is_same = rows is None or rows == found[0]
        self._stored[memory] = found[0], {*(columns if is_same else ()), found[1]}
        return is_same


def _is_another(rows: Rows, column: int, stored: Rows, columns: set[int]) -> bool:
    """Whether a column has no elements in common with those of the same rows that were stored."""
    return rows == stored and all(0 < abs(column - each) < rows.lanes.block for each in columns)
