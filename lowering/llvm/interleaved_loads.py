"""Gathers of columns of the same rows, as the channels of pixels, as one load of the rows.

a = gather A[3 i] ...
b = gather A[3 i + 1] ...     ->      rows = load A[3 i ...]
c = gather A[3 i + 2] ...             a, b, c = the columns of rows
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from operator import itemgetter

from xdsl.ir import Block, Operation, SSAValue

from ...dialects.arith import ExtSIOp, ExtUIOp, constant_lanes
from ...dialects.vector import GatherOp
from ...passes.estimate.strided_accesses import LARGEST_STRIDE
from ...passes.polyhedral.gathers import needs_check
from ..loops.alias_analysis import Numbering
from .known_lanes import column_of, stride_of, varying_mask
from .memory_versions import MemoryVersions


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


def interleaved_loads(block: Block, *, noalias: bool) -> Mapping[Operation, InterleavedLoads]:
    """The gathers of a block with a small positive stride, each with its group of one mask.

    Those of longer rows are left out where they are fewer than half of the columns.
    `noalias` says that no two memrefs share memory.
    """
    groups: defaultdict[Hashable, list[tuple[int, GatherOp]]] = defaultdict(list)
    strides: dict[Hashable, int] = {}
    masks: dict[Hashable, SSAValue | None] = {}
    versions = MemoryVersions(noalias=noalias)
    numbering = Numbering()
    for operation in block.ops:
        if isinstance(operation, GatherOp):
            stride = stride_of(constant_lanes(operation.index_vec))
            places = (*operation.indices, operation.index_vec)
            if stride is not None and stride > 1 and not needs_check(operation, places):
                mask = varying_mask(operation.mask)
                row, column = column_of(operation, numbering)
                key = (versions.now(operation.base), row, stride, operation.result.type, mask)
                strides[key] = stride
                masks[key] = mask
                groups[key].append((column, operation))
        versions.after(operation)
    result: dict[Operation, InterleavedLoads] = {}
    for key, found in groups.items():
        waiting = sorted(found, key=itemgetter(0))
        while waiting:
            first, _ = waiting[0]
            members = [each for each in waiting if each[0] - first < strides[key]]
            waiting = waiting[len(members) :]
            places = tuple(column - first for column, _ in members)
            if strides[key] > LARGEST_STRIDE and 2 * len(set(places)) < strides[key]:
                continue
            gathers = tuple(gather for _, gather in members)
            group = InterleavedLoads(gathers, places, strides[key], masks[key])
            result.update(dict.fromkeys(gathers, group))
    return result
