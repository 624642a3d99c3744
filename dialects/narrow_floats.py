"""The 16-bit floating-point types, f16 and bf16: storage, whose arithmetic is that of f32."""

from __future__ import annotations

import struct
from typing import TypeGuard

from xdsl.dialects.builtin import BFloat16Type, Float16Type, VectorType
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

NarrowFloat = Float16Type | BFloat16Type


def is_narrow_float(kind: Attribute) -> TypeGuard[NarrowFloat]:
    """Whether a type is f16 or bf16."""
    return isinstance(kind, NarrowFloat)


def narrow_float(kind: Attribute) -> NarrowFloat | None:
    """The type, or element type of a vector type, if it is f16 or bf16."""
    element = kind.element_type if isa(kind, VectorType) else kind
    return element if is_narrow_float(element) else None


def bits_of(value: float, kind: NarrowFloat) -> int:
    """The bits of a number that the type has."""
    if isinstance(kind, Float16Type):
        return int.from_bytes(struct.pack("<e", value), "little")
    return int.from_bytes(struct.pack("<f", value), "little") >> 16
