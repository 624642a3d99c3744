"""Gathers of adjacent columns as row loads and an in-register transposition.

A gather takes about a cycle per lane. Where a block gathers several neighbouring columns of the
same rows, as an unrolled copy loop does that transposes, it takes a load per row and about as many
shuffles per row as a vector has lanes in powers of two. Stores to other columns may stand between:

    a = gather A[i ... i + 3][j]              r0 = load A[i][j ... j + 3]
    b = gather A[i ... i + 3][j + 1]          r1 = load A[i + 1][j ... j + 3]
    c = gather A[i ... i + 3][j + 2]    ->    r2 = load A[i + 2][j ... j + 3]
    d = gather A[i ... i + 3][j + 3]          r3 = load A[i + 3][j ... j + 3]
                                              a, b, c, d = transpose r0, r1, r2, r3
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.vector import GatherOp, ScatterOp
from ...passes.estimate.strided_accesses import FEWEST_COLUMNS
from ...passes.polyhedral.gathers import needs_check
from ..loops.alias_analysis import Numbering
from ..memory.memory_versions import MemoryVersions
from ..memory.updated_columns import StoredTogether, UpdatedColumns, as_stored
from .row_lanes import RowLanes, row_lanes, rows_apart


@dataclass(frozen=True)
class TransposedLoads:
    """Gathers of the columns `first`, `first + 1` ... of the same rows, at most a block of them.

    Lanes that are not active are zero.
    """

    gathers: tuple[GatherOp, ...]
    lanes: RowLanes


def transposed_loads(
    block: Block, stores: Mapping[Operation, StoredTogether], *, noalias: bool, vector_bits: int
) -> Mapping[Operation, TransposedLoads]:
    """The gathers of a block that are better done together, each with its group.

    `noalias` says that no two memrefs share memory.
    """
    groups: defaultdict[Hashable, dict[int, GatherOp]] = defaultdict(dict)
    lanes: dict[Hashable, RowLanes] = {}
    versions = MemoryVersions(noalias=noalias)
    numbering = Numbering()
    updated = UpdatedColumns(partial(rows_apart, numbering=numbering, vector_bits=vector_bits))
    for operation in as_stored(block, stores):
        if isinstance(operation, GatherOp):
            if not updated.commutes(operation):
                versions.store(operation.base)
            known = _lanes(operation, vector_bits)
            if known is not None:
                *outer, last = (numbering.index(value) for value in operation.indices)
                row = (*outer, last - last.constant)
                key = (versions.now(operation.base), row, known, operation.result.type)
                lanes[key] = known
                groups[key].setdefault(last.constant, operation)
        if not (isinstance(operation, ScatterOp) and updated.commutes(operation) and noalias):
            versions.after(operation)
    result: dict[Operation, TransposedLoads] = {}
    for key, columns in groups.items():
        for run in _runs(sorted(columns), lanes[key].block):
            group = TransposedLoads(tuple(columns[column] for column in run), lanes[key])
            result.update(dict.fromkeys(group.gathers, group))
    return result


def _runs(columns: Sequence[int], rows: int) -> list[list[int]]:
    """Neighbouring columns, in groups of at most as many as there are rows, and of enough."""
    runs: list[list[int]] = []
    for column in columns:
        if runs and runs[-1][-1] == column - 1 and len(runs[-1]) < rows:
            runs[-1].append(column)
        else:
            runs.append([column])
    return [run for run in runs if len(run) >= max(2, FEWEST_COLUMNS * rows)]


def _lanes(gather: GatherOp, vector_bits: int) -> RowLanes | None:
    """The rows of the lanes; None if they are not known or suitable."""
    if needs_check(gather, (*gather.indices, gather.index_vec)):
        return None
    lanes = row_lanes(gather.index_vec, gather.mask, gather.result.type, vector_bits)
    if lanes is None or (not all(lanes.active) and not _is_zero(gather.pass_thru)):
        return None
    return lanes


def _is_zero(value: SSAValue) -> bool:
    match value.owner:
        case arith.ConstantOp(value=DenseIntOrFPElementsAttr() as elements):
            return not any(elements.get_values())
        case _:
            return False
