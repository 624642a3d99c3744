"""Specialisation of an unscheduled function to sizes, for constant loop bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
)
from xdsl.ir import Block, BlockArgument, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from ..dialects.memref import behind_casts
from ..passes.polyhedral.raising.conditional_updates import make_updates_unconditional
from ..passes.polyhedral.raising.narrow_floats import widen_narrow_floats
from ..passes.polyhedral.size_assumptions import substitute_extents


def specialise(
    function: func.FuncOp,
    shapes: Mapping[int, Sequence[int]],
    integers: Mapping[int, int],
) -> func.FuncOp:
    """A copy of a function with known shapes and integer arguments; the argument list stays.

    `shapes` gives the extents of memref arguments by position, `integers` the values of index and
    integer arguments by position. Memref types become static, `memref.dim` of them and the bound
    arguments become constants. Arithmetic on f16 and bf16 is that of f32, and updates under
    conditions are those of reductions.

        func.func @f(%n: index, %A: memref<?xf64>) {    ->  (%n: index, %A: memref<8xf64>) {
          affine.for %i = 0 to %n {                           %c8 = arith.constant 8 : index
                                                              affine.for %i = 0 to %c8 {

    Raises ValueError when a shape or integer contradicts the type of its argument.
    """
    copy = function.clone()
    widen_narrow_floats(copy)
    make_updates_unconditional(copy)
    block = copy.body.block
    substitute_extents(copy, shapes)
    for position, shape in shapes.items():
        _make_static(copy, block, block.args[position], shape)
    for position, value in integers.items():
        argument = block.args[position]
        if not isa(argument.type, IndexType | IntegerType):
            raise ValueError(
                f"{function.sym_name.data}: argument {position + 1} of type {argument.type} "
                "is not an integer"
            )
        constant = arith.ConstantOp(IntegerAttr(value, argument.type))
        if block.first_op is None:
            block.add_op(constant)
        else:
            block.insert_op_before(constant, block.first_op)
        argument.replace_all_uses_with(constant.result)
    copy.properties["function_type"] = FunctionType.from_lists(
        list(block.arg_types), list(copy.function_type.outputs)
    )
    _fold_sizes(copy)
    return copy


def _make_static(
    function: func.FuncOp, block: Block, argument: BlockArgument, shape: Sequence[int]
) -> None:
    """Gives an argument a static type; calls still pass a memref of the type they passed."""
    old = argument.type
    if not isa(old, MemRefType) or not _agree(old.get_shape(), shape):
        raise ValueError(
            f"{function.sym_name.data}: argument {argument.index + 1} of type {old} "
            f"cannot have the shape {tuple(shape)}"
        )
    if tuple(shape) == old.get_shape():
        return
    new = MemRefType(old.element_type, shape, old.layout, old.memory_space)
    value = Rewriter.replace_value_with_new_type(argument, new)
    for use in tuple(value.uses):
        if isinstance(use.operation, func.CallOp):
            cast = memref.CastOp.get(value, old)
            Rewriter.insert_op(cast, InsertPoint.before(use.operation))
            use.operation.operands[use.index] = cast.dest


def _agree(static: Sequence[int], shape: Sequence[int]) -> bool:
    return len(static) == len(shape) and all(
        extent in (DYNAMIC_INDEX, size) for extent, size in zip(static, shape, strict=True)
    )


def _fold_sizes(function: func.FuncOp) -> None:
    """Replaces every `memref.dim` with a known answer by a constant."""
    for op in tuple(function.walk()):
        if not isinstance(op, memref.DimOp):
            continue
        shape, position = _shape(op.source), _constant(op.index)
        if position is None or not 0 <= position < len(shape):
            continue
        if shape[position] != DYNAMIC_INDEX:
            Rewriter.replace_op(
                op, arith.ConstantOp(IntegerAttr.from_index_int_value(shape[position]))
            )


def _shape(value: SSAValue) -> tuple[int, ...]:
    """The extents of a memref as far as its definition tells, through casts."""
    kind = behind_casts(value).type
    return kind.get_shape() if isa(kind, MemRefType) else ()


def _constant(value: SSAValue) -> int | None:
    match value.owner:
        case arith.ConstantOp(value=IntegerAttr() as attribute):
            return attribute.value.data
        case _:
            return None
