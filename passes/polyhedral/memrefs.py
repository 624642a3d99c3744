"""Memref and integer types in the polyhedral model."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import IntegerAttr, IntegerType, MemRefType
from xdsl.ir import Attribute, SSAValue


def as_memref(value: SSAValue) -> MemRefType[Attribute] | None:
    """The type of a value that is a memref, None for others."""
    type_: Attribute = value.type
    return cast("MemRefType[Attribute]", type_) if isinstance(type_, MemRefType) else None


def memref_shape(value: SSAValue) -> tuple[int, ...]:
    """The shape of a value that is a memref; -1 stands for a dynamic dimension."""
    type_ = as_memref(value)
    assert type_ is not None, f"{value} is no memref"
    return type_.get_shape()


def integer_width(type_: Attribute) -> int | None:
    """The number of bits of an integer type, None for index and others."""
    if isinstance(type_, IntegerType):
        return cast("IntegerType", type_).width.data
    return None


def signed_value(attribute: IntegerAttr) -> int:
    """The value of an integer constant, read as a signed number."""
    value = attribute.value.data
    if (width := integer_width(attribute.type)) is not None:
        half = 1 << (width - 1)
        value = (value + half) % (2 * half) - half
    return value
