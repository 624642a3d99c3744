"""Layouts, memory spaces and unranked memrefs -> row-major memrefs.

Arguments are contiguous arrays: layouts that leave strides open allow that. Where the elements of
local memrefs are is nobody's business.
"""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    FunctionType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    UnrankedMemRefType,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.rewriter import Rewriter
from xdsl.utils.hints import isa

from .....dialects.errors import SourceError


def is_row_major(kind: Attribute) -> bool:
    """Whether a type is a memref whose elements are known to be contiguous, from its start."""
    if not isa(kind, MemRefType):
        return False
    layout = kind.layout
    if isinstance(layout, StridedLayoutAttr):
        wanted = MemRefType(kind.element_type, kind.shape).get_strides()
        assert wanted is not None
        return layout.get_offset() == 0 and all(
            one is not None and one == other
            for one, other in zip(layout.get_strides(), wanted, strict=True)
        )
    identity = AffineMapAttr(AffineMap.identity(kind.get_num_dims()))
    return layout in (NoneAttr(), identity)


def may_be_row_major(kind: Attribute) -> bool:
    """Whether contiguous arrays may have the layout of a type."""
    if not isa(kind, MemRefType) or not isinstance(layout := kind.layout, StridedLayoutAttr):
        return is_row_major(kind)
    wanted = MemRefType(kind.element_type, kind.shape).get_strides()
    assert wanted is not None
    return layout.get_offset() in (None, 0) and all(
        one is None or other is None or one == other
        for one, other in zip(layout.get_strides(), wanted, strict=True)
    )


def rank_arguments(function: func.FuncOp) -> None:
    """Makes unranked memrefs among the arguments ones of one dimension.

    func.func @f(%A: memref<*xf32>)  ->  func.func @f(%A: memref<?xf32>)
    """
    for argument in function.body.block.args:
        if isa(argument.type, UnrankedMemRefType):
            ranked = MemRefType(argument.type.element_type, [DYNAMIC_INDEX])
            Rewriter.replace_value_with_new_type(argument, ranked)
    set_argument_types(function)


def drop_layouts(function: func.FuncOp) -> None:
    """Makes all memrefs row-major, in the default memory space; raises SourceError."""
    for argument in function.body.block.args:
        if isa(argument.type, MemRefType) and not may_be_row_major(argument.type):
            raise SourceError.at(
                argument,
                f"the layout of {argument.type} is not row-major",
                hint="leave the layout out: arguments are contiguous arrays",
            )
    values: list[SSAValue] = list(function.body.block.args)
    values += [result for operation in function.walk() for result in operation.results]
    for value in values:
        kind = value.type
        if not isa(kind, MemRefType):
            continue
        plain = MemRefType(kind.element_type, kind.shape)
        if plain != kind:
            Rewriter.replace_value_with_new_type(value, plain)
    set_argument_types(function)


def set_argument_types(function: func.FuncOp) -> None:
    """Makes the type of a function that of its arguments."""
    outputs = list(function.function_type.outputs)
    inputs = list(function.body.block.arg_types)
    function.properties["function_type"] = FunctionType.from_lists(inputs, outputs)
