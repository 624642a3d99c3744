"""Check of the types that functions may use to be compiled."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    MemRefType,
    NoneAttr,
    Signedness,
    TensorType,
    VectorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.utils.hints import isa

from .errors import SourceError
from .locations import name_of

INTEGER_WIDTHS = (1, 8, 16, 32, 64)
_MAX_ELEMENTS = 2**59
_FLOATS = Float16Type | BFloat16Type | Float32Type | Float64Type
_SCALARS = "use f16, bf16, f32, f64, complex<f32>, complex<f64>, index, i1, i8, i16, i32 or i64"


def is_scalar(type: Attribute) -> bool:
    """Whether values and memref elements may have a type."""
    if isa(type, IntegerType):
        return type.width.data in INTEGER_WIDTHS and type.signedness.data is Signedness.SIGNLESS
    return isinstance(type, _FLOATS | IndexType)


def check_types(function: FuncOp) -> None:
    """Raises SourceError at the first value whose type cannot be compiled.

    Scalars, memrefs of scalars (row-major, in the default memory space) and vectors of scalars
    can.
    """
    for value in _values(function):
        problem = _problem(value.type)
        if problem is not None:
            reason, hint = problem
            message = f"{name_of(value)} has type {value.type}: {reason}"
            raise SourceError.at(value, message, hint)


def _values(function: FuncOp) -> Iterator[SSAValue]:
    for operation in function.walk():
        for region in operation.regions:
            for block in region.blocks:
                yield from block.args
        yield from operation.results


def _problem(type: Attribute) -> tuple[str, str] | None:
    """Why a type cannot be compiled, and what to do instead."""
    if isa(type, MemRefType):
        layout = type.layout
        identity = AffineMapAttr(AffineMap.identity(type.get_num_dims()))
        if layout not in (NoneAttr(), identity):
            return "only row-major, contiguous memrefs are supported", "leave the layout out"
        if not isinstance(type.memory_space, NoneAttr):
            return "memory spaces are not supported", "leave the memory space out"
        if not is_scalar(type.element_type):
            return f"elements of type {type.element_type} are not supported", _SCALARS
        if math.prod(size for size in type.get_shape() if size != DYNAMIC_INDEX) >= _MAX_ELEMENTS:
            return "it is larger than any memory", "use smaller sizes"
        return None
    if isa(type, VectorType):
        if not is_scalar(type.element_type):
            return f"elements of type {type.element_type} are not supported", _SCALARS
        return None
    if not is_scalar(type):
        return "this type is not supported", f"{_SCALARS}, or memrefs of these"
    return None


def element_type(type: Attribute) -> Attribute:
    """The type of the elements of a memref or tensor; other types are their own."""
    if isinstance(type, MemRefType | TensorType):
        return cast("MemRefType[Attribute]", type).element_type
    return type
