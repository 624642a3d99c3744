"""Gathers of columns of the same rows, as the channels of pixels, as one load of the rows.

a = gather A[3 i] ...
b = gather A[3 i + 1] ...     ->      rows = load A[3 i ...]
c = gather A[3 i + 2] ...             a, b, c = the columns of rows

Stores to other columns of the rows may stand between.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from operator import itemgetter

from xdsl.ir import Block, Operation, SSAValue

from ...dialects.arith import ExtSIOp, ExtUIOp
from ...dialects.vector import GatherOp, ScatterOp
from ...passes.estimate.strided_accesses import LARGEST_STRIDE
from ...passes.polyhedral.gathers import needs_check
from ..loops.alias_analysis import Numbering
from .interleaved_rows import InterleavedRow, interleaved_row
from .memory_versions import MemoryVersions
from .updated_columns import StoredTogether, UpdatedColumns, as_stored


@dataclass(frozen=True)
class InterleavedLoads:
    """Gathers of the same rows, each with its column: the first is 0, all are below the stride.

    Columns ascend; one that is read twice is there twice.
    `mask` is the mask that they share, None with all lanes on.
    """

    gathers: tuple[GatherOp, ...]
    columns: tuple[int, ...]
    stride: int
    mask: SSAValue | None

    @property
    def are_extended(self) -> bool:
        """Whether their elements are integers of which nothing but longer ones is made."""
        return all(
            isinstance(use.operation, ExtUIOp | ExtSIOp)
            for gather in self.gathers
            for use in gather.result.uses
        )


def interleaved_loads(
    block: Block, stores: Mapping[Operation, StoredTogether], *, noalias: bool
) -> Mapping[Operation, InterleavedLoads]:
    """The gathers of a block with a small positive stride, each with its group of one mask.

    Those of longer rows are left out where they are fewer than half of the columns.
    `noalias` says that no two memrefs share memory.
    """
    groups: defaultdict[Hashable, list[tuple[int, GatherOp]]] = defaultdict(list)
    rows: dict[Hashable, InterleavedRow] = {}
    versions = MemoryVersions(noalias=noalias)
    rows_of = cache(partial(interleaved_row, numbering=Numbering()))
    updated = UpdatedColumns(rows_of)
    for operation in as_stored(block, stores):
        commutes = isinstance(operation, GatherOp | ScatterOp) and updated.commutes(operation)
        if isinstance(operation, GatherOp):
            if not commutes:
                versions.store(operation.base)
            places = (*operation.indices, operation.index_vec)
            found = rows_of(operation)
            if found is not None and not needs_check(operation, places):
                row, column = found
                key = (versions.now(operation.base), row)
                rows[key] = row
                groups[key].append((column, operation))
        if not (commutes and isinstance(operation, ScatterOp) and noalias):
            versions.after(operation)
    result: dict[Operation, InterleavedLoads] = {}
    for key, found in groups.items():
        row = rows[key]
        waiting = sorted(found, key=itemgetter(0))
        while waiting:
            first, _ = waiting[0]
            members = [each for each in waiting if each[0] - first < row.stride]
            waiting = waiting[len(members) :]
            places = tuple(column - first for column, _ in members)
            if row.stride > LARGEST_STRIDE and 2 * len(set(places)) < row.stride:
                continue
            gathers = tuple(gather for _, gather in members)
            group = InterleavedLoads(gathers, places, row.stride, row.mask)
            result.update(dict.fromkeys(gathers, group))
    return result
