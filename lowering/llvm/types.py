"""Types of the loop IR as LLVM types."""

from __future__ import annotations

from functools import lru_cache

from llvmlite import ir
from xdsl.dialects.builtin import (
    AffineMapAttr,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    MemRefType,
    NoneAttr,
    VectorType,
)
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineMap

I1 = ir.IntType(1)
I8 = ir.IntType(8)
I16 = ir.IntType(16)
I32 = ir.IntType(32)
I64 = ir.IntType(64)
POINTER = ir.PointerType()
VOID = ir.VoidType()

INTEGER_WIDTHS = (1, 8, 16, 32, 64)


class UnsupportedTypeError(Exception):
    """A type that has no translation; the message says which and why."""


@lru_cache(maxsize=1024)
def value_type(attribute: Attribute) -> ir.Type:
    """The type of a value in a register: index as i64, scalars as themselves, 1-D vectors."""
    match attribute:
        case IndexType():
            return I64
        case Float16Type() | BFloat16Type():  # storage; their arithmetic is that of f32
            return I16
        case Float32Type():
            return ir.FloatType()
        case Float64Type():
            return ir.DoubleType()
        case IntegerType() if attribute.width.data in INTEGER_WIDTHS:
            return ir.IntType(attribute.width.data)
        case VectorType() if attribute.get_num_dims() == 1 and not any(
            bool(flag) for flag in attribute.scalable_dims
        ):
            return ir.VectorType(value_type(attribute.element_type), attribute.get_shape()[0])
        case _:
            raise UnsupportedTypeError(f"type '{attribute}' cannot be compiled")


def storage_type(value: ir.Type) -> ir.Type:
    """The type in memory of a value: a boolean takes a byte, all else is as in a register."""
    if value == I1:
        return I8
    if isinstance(value, ir.VectorType) and value.element == I1:
        return ir.VectorType(I8, value.count)
    return value


def scalar_type(value: ir.Type) -> ir.Type:
    """The element of a vector type, another type itself."""
    return value.element if isinstance(value, ir.VectorType) else value


def size_in_bytes(scalar: ir.Type) -> int:
    """Bytes of a scalar in memory."""
    if isinstance(scalar, ir.IntType):
        return max(1, scalar.width // 8)
    return 4 if isinstance(scalar, ir.FloatType) else 8


def check_layout(attribute: MemRefType[Attribute]) -> None:
    """Raises UnsupportedTypeError unless the memref is row-major and contiguous."""
    identity = AffineMapAttr(AffineMap.identity(attribute.get_num_dims()))
    if not isinstance(attribute.layout, NoneAttr) and attribute.layout != identity:
        raise UnsupportedTypeError(f"type '{attribute}' is not row-major and contiguous")
