"""Layouts, memory spaces and unranked memrefs -> row-major memrefs.

Arguments of functions are arrays of which elements have subscripts: where the elements are in
memory is up to the calling convention, and layouts say nothing else.
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
    values: list[SSAValue] = list(function.body.block.args)
    values += [result for operation in function.walk() for result in operation.results]
    for value in values:
        kind = value.type
        if not isa(kind, MemRefType):
            continue
        layout = kind.layout
        if isinstance(layout, StridedLayoutAttr) and 0 in layout.get_strides():
            raise SourceError.at(
                value,
                f"elements of {kind} share memory",
                hint="take an array without stride 0",
            )
        plain = MemRefType(kind.element_type, kind.shape)
        if plain != kind:
            Rewriter.replace_value_with_new_type(value, plain)
    set_argument_types(function)


def set_argument_types(function: func.FuncOp) -> None:
    """Makes the type of a function that of its arguments."""
    outputs = list(function.function_type.outputs)
    inputs = list(function.body.block.arg_types)
    function.properties["function_type"] = FunctionType.from_lists(inputs, outputs)
