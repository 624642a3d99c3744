"""Emission of constants, sizes and loop nests in front of an operation."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, IndexType, IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from .....dialects.affine import ApplyOp, ForOp, YieldOp
from .....dialects.memref import is_memref
from ..cells import insert_before

Size = int | SSAValue
"""An extent or bound: a number where it is known."""

_IDENTITY = AffineMapAttr(AffineMap(1, 0, (AffineExpr.dimension(0),)))


def index_value(anchor: Operation, value: Size) -> SSAValue:
    """A size as a value before `anchor`."""
    if isinstance(value, SSAValue):
        return value
    constant = arith.ConstantOp(IntegerAttr(value, IndexType()))
    insert_before(anchor, constant)
    return constant.result


def size_of(anchor: Operation, array: SSAValue, dimension: int) -> Size:
    """An extent of a memref."""
    assert is_memref(array.type)
    extent = array.type.get_shape()[dimension]
    if extent != DYNAMIC_INDEX:
        return extent
    size = memref.DimOp(array, index_value(anchor, dimension))
    insert_before(anchor, size)
    return size.result


def sizes_of(anchor: Operation, array: SSAValue) -> list[Size]:
    """The extents of a memref."""
    assert is_memref(array.type)
    return [size_of(anchor, array, n) for n in range(array.type.get_num_dims())]


def apply(anchor: Operation, function: AffineMap, operands: Sequence[SSAValue]) -> SSAValue:
    """The value of a map with one result."""
    result = function.results[0]
    if function.num_dims + function.num_symbols == len(operands):
        for position, operand in enumerate(operands):
            is_symbol = position >= function.num_dims
            number = position - function.num_dims if is_symbol else position
            same = AffineExpr.symbol(number) if is_symbol else AffineExpr.dimension(number)
            if result == same:
                return operand
    operation = ApplyOp(operands, AffineMapAttr(function))
    insert_before(anchor, operation)
    return operation.result


def loop_nest(
    anchor: Operation, bounds: Sequence[Size], names: Sequence[str | None] = ()
) -> tuple[list[SSAValue], Operation]:
    """Loops from 0 to each bound; their variables, and the end of the innermost body."""
    variables: list[SSAValue] = []
    for number, bound in enumerate(bounds):
        block = Block([YieldOp.get()], arg_types=[IndexType()])
        variable = block.args[0]
        variable.name_hint = names[number] if number < len(names) else None
        operands = [] if isinstance(bound, int) else [bound]
        upper = bound if isinstance(bound, int) else _IDENTITY
        loop = ForOp.from_region([], operands, [], [], 0, upper, Region(block))
        insert_before(anchor, loop)
        variables.append(variable)
        end = block.last_op
        assert end is not None
        end.location = anchor.location
        anchor = end
    return variables, anchor


def erase(operation: Operation) -> None:
    """Takes an operation without uses out of its block."""
    operation.detach()
    operation.erase()


def move_before(anchor: Operation, block: Block, end: Operation | None) -> None:
    """Moves the operations of a block in front of `anchor`, all but `end`, which goes."""
    if end is not None:
        erase(end)
    assert anchor.parent is not None
    for operation in list(block.ops):
        operation.detach()
        anchor.parent.insert_op_before(operation, anchor)
