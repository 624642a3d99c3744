"""Columns of rows that are updated in place: loads of some commute with stores to others.

a = gather A[i ... i + 3][j]
scatter A[i ... i + 3][j], f(a)
b = gather A[i ... i + 3][j + 1]        may stand before the scatter, or this behind it
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, Protocol, TypeVar

from xdsl.ir import Block, Operation, SSAValue

from ...dialects.memref import behind_casts
from ...dialects.vector import GatherOp, ScatterOp


class StoredTogether(Protocol):
    """Scatters that are all stored where the last one stands."""

    @property
    def scatters(self) -> tuple[ScatterOp, ...]:
        """Which these are."""
        ...

    @property
    def last(self) -> ScatterOp:
        """The last one in the code."""
        ...


def as_stored(block: Block, stores: Mapping[Operation, StoredTogether]) -> Iterator[Operation]:
    """The operations of a block, each scatter where it is stored."""
    for operation in block.ops:
        group = stores.get(operation)
        if group is None:
            yield operation
        elif operation is group.last:
            yield from group.scatters


class Rows(Protocol):
    """Where gathers or scatters begin but for a number of columns, and how their lanes lie."""

    def meet(self, one: int, other: int) -> bool:
        """Whether vectors from two columns on may have elements in common."""
        ...


R = TypeVar("R", bound=Rows)


class UpdatedColumns(Generic[R]):
    """What has been scattered along a block, to columns of the same rows of a memref.

    `rows` gives rows and first column of an access; None for another kind of access.
    """

    def __init__(self, rows: Callable[[GatherOp | ScatterOp], tuple[R, int] | None]) -> None:
        self._rows = rows
        self._stored: dict[SSAValue, tuple[R, set[int]]] = {}

    def commutes(self, operation: GatherOp | ScatterOp) -> bool:
        """Goes on behind an access; whether it commutes with the scatters before.

        Gathers of other columns do. Scatters to the same rows do as far as such gathers see them.
        Behind other accesses, all begins anew.
        """
        memory = behind_casts(operation.base)
        found = self._rows(operation)
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
    return rows == stored and not any(rows.meet(column, each) for each in columns)
