"""Gathers: loads whose subscripts depend on data.

    %k = memref.load %idx[%i]
    %x = memref.load %A[%k]

They read arrays that the function never writes. So no dependence runs through them, and in the
body of a statement they are operations like those of arithmetic, not accesses. Their subscripts
are compared with the extents when they run.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import memref, scf
from xdsl.dialects.affine import ForOp
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import BlockArgument, Operation, SSAValue

from .scop import Array, Scop, Statement


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
