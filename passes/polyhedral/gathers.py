"""Gathers: loads whose subscripts depend on data.

    %k = memref.load %idx[%i]
    %x = memref.load %A[%k]

They read arrays that the function never writes. So no dependence runs through them, and in the
body of a statement they are operations like those of arithmetic, not accesses. Their subscripts
are compared with the extents when they run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.affine import ForOp
from xdsl.dialects.builtin import IndexType, IntegerType, MemRefType, i64
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.utils.hints import isa

from ...dialects.arith import ExtUIOp, IndexCastUIOp
from ...dialects.memref import INSPECTED
from .scop import Access, Array, Scop, Statement

SHORT_SUBSCRIPT = 16
"""Bits of the largest tables that hold an element for each value of an integer."""


class GatherLanes(Enum):
    """Where the lanes of a vector find the elements of a gather."""

    SAME = "all at one element"
    ROW = "neighbours in a row that depends on data"
    SPREAD = "at columns of one row that depend on data"
    APART = "in rows of their own"


def gather_lanes(
    statement: Statement, step: Callable[[Access | AffineExpr], int | None]
) -> dict[memref.LoadOp, GatherLanes]:
    """The gathers of a statement in the lanes of a vector loop.

    `step` tells by how much an index grows from lane to lane, and whether a load moves; None where
    the lanes are not equally far apart.
    """
    steps: dict[SSAValue, int | None] = {
        value: step(expression) for value, expression in statement.indices.items()
    }
    loads = {access.op: access for access in statement.reads if not access.is_opaque}
    found: dict[memref.LoadOp, GatherLanes] = {}
    for operation in statement.body:
        access = loads.get(operation)
        if access is not None:
            is_varying = step(access) != 0
        else:
            is_varying = any(steps.get(operand, 0) != 0 for operand in operation.operands)
        moved = _sum_step(operation, steps) if is_varying else 0
        steps.update(dict.fromkeys(operation.results, moved))
        if access is None and isinstance(operation, memref.LoadOp):
            *rows, column = (steps.get(index, 0) for index in operation.indices)
            found[operation] = _lanes_at(rows, column)
    return found


def _sum_step(operation: Operation, steps: Mapping[SSAValue, int | None]) -> int | None:
    """By how much a sum of indices grows, of values that grow by so much."""
    if is_index_cast(operation):
        return steps.get(operation.operands[0], 0)
    if not is_index_sum(operation):
        return None
    left, right = (steps.get(operand, 0) for operand in operation.operands)
    if left is None or right is None:
        return None
    return left + right if isinstance(operation, arith.AddiOp) else left - right


def _lanes_at(rows: list[int | None], column: int | None) -> GatherLanes:
    """Of subscripts that grow by so much from lane to lane."""
    if any(row != 0 for row in rows):
        return GatherLanes.APART
    if column == 0:
        return GatherLanes.SAME
    return GatherLanes.ROW if column == 1 else GatherLanes.SPREAD


def is_index_sum(operation: object) -> bool:
    """Whether an operation adds or subtracts integers as wide as indices are."""
    return isinstance(operation, arith.AddiOp | arith.SubiOp) and _is_wide(operation.result)


def is_index_cast(operation: object) -> bool:
    """Whether an operation only changes the type of integers as wide as indices are."""
    return isinstance(operation, arith.IndexCastOp) and all(
        map(_is_wide, (operation.input, operation.result))
    )


def is_short_subscript(value: SSAValue) -> bool:
    """Whether an index is an unsigned integer of one or two bytes.

    It is never outside of 256 elements, or of 65536: LLVM leaves out the comparison.
    """
    owner = value.owner
    if isinstance(owner, ExtUIOp | IndexCastUIOp):
        source = owner.operands[0]
        is_short = isa(source.type, IntegerType) and source.type.width.data <= SHORT_SUBSCRIPT
        return is_short or is_short_subscript(source)
    return isinstance(owner, arith.IndexCastOp) and is_short_subscript(owner.operands[0])


def _is_wide(value: SSAValue) -> bool:
    return isinstance(value.type, IndexType) or value.type == i64


def gathers_of(statement: Statement) -> frozenset[memref.LoadOp]:
    """The gathers of a statement."""
    return frozenset(each for each in statement.body if isinstance(each, memref.LoadOp))


def gathered_arrays(statement: Statement) -> Iterator[BlockArgument]:
    """The arguments that gathers of a statement read."""
    for operation in statement.body:
        if isinstance(operation, memref.LoadOp) and isinstance(operation.memref, BlockArgument):
            yield operation.memref


def gathered_arguments(scop: Scop) -> frozenset[int]:
    """The positions of the arguments that gathers read."""
    return frozenset(
        each.index for statement in scop.statements for each in gathered_arrays(statement)
    )


def argument_arrays(scop: Scop) -> dict[SSAValue, Array]:
    """The arrays that gathers may read, by the values that they name.

    Buffers that steps have made share the value of the array that they copy: those are left out,
    because a gather may read any element and a buffer has only some.
    """
    return {array.value: array for array in scop.arrays if array.argument is not None}


def whole_arrays(scop: Scop) -> dict[SSAValue, Array]:
    """The arrays that opaque regions take, by the values that they name: never buffers of steps."""
    found: dict[SSAValue, Array] = {}
    for array in scop.arrays:
        found.setdefault(array.value, array)
    return found


def describe_gathers(scop: Scop, statement: Statement) -> list[str]:
    """`x[*]` for each array that gathers of a statement read."""
    arrays = argument_arrays(scop)
    return [f"{arrays[each].name}[*]" for each in dict.fromkeys(gathered_arrays(statement))]


CHECKED = "checked"
"""Attribute of loads whose subscripts are compared with the extents when they run."""


def needs_check(operation: Operation, subscripts: Iterable[SSAValue]) -> bool:
    """Whether a load's subscripts are compared with the extents, however they are computed."""
    if INSPECTED in operation.attributes:
        return False
    return CHECKED in operation.attributes or any(map(is_irregular, subscripts))


def is_irregular(index: SSAValue) -> bool:
    """Whether a subscript depends on data, or on the product of values that are no constants."""
    return depends_on_data(index) or any(map(_is_product, _computed_by(index)))


def _is_product(operation: Operation) -> bool:
    return isinstance(operation, arith.MuliOp) and not any(
        isinstance(operand.owner, arith.ConstantOp) for operand in operation.operands
    )


def _computed_by(value: SSAValue) -> set[Operation]:
    """The operations that compute a value."""
    found: set[Operation] = set()
    pending = [value]
    while pending:
        operation = pending.pop().owner
        if isinstance(operation, Operation) and operation not in found:
            found.add(operation)
            pending.extend(operation.operands)
    return found


def depends_on_data(value: SSAValue) -> bool:
    """Whether a value is computed from what is in memory, or carried by a loop."""
    seen: set[SSAValue] = set()
    pending = [value]
    while pending:
        each = pending.pop()
        if each in seen:
            continue
        seen.add(each)
        if isinstance(each, BlockArgument):
            loop = each.block.parent_op()
            if isinstance(loop, ForOp | scf.ForOp) and each.index > 0:
                return True
            continue
        operation = each.owner
        assert isinstance(operation, Operation)
        reads = any(isinstance(each.type, MemRefType) for each in operation.operands)
        if operation.regions or (reads and not isinstance(operation, memref.DimOp)):
            return True
        pending.extend(operation.operands)
    return False
