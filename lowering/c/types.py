"""Types of the loop IR as C types."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    NoneAttr,
    VectorType,
)
from xdsl.ir import Attribute, SSAValue

from ...dialects.errors import SourceError
from ...dialects.memref import is_memref

INTEGER_WIDTHS = (1, 8, 16, 32, 64)


def bits(kind: Attribute) -> int | None:
    """Bits of an integer type (64 for index); None for any other type."""
    match kind:
        case IndexType():
            return 64
        case IntegerType() if kind.width.data in INTEGER_WIDTHS:
            return kind.width.data
        case _:
            return None


def c_type(kind: Attribute, value: SSAValue) -> str:
    """The C type of a scalar, or of the elements of a memref: `double`, `int64_t`, `bool`.

    Raises SourceError at `value` for a type that has none.
    """
    if is_memref(kind):
        if not isinstance(kind.layout, NoneAttr):
            raise SourceError.at(value, f"type '{kind}' is not row-major and contiguous")
        return c_type(kind.element_type, value)
    match kind:
        case Float16Type():
            return "_Float16"
        case BFloat16Type():
            return "__bf16"
        case Float32Type():
            return "float"
        case Float64Type():
            return "double"
        case VectorType():
            raise SourceError.at(
                value,
                f"a vector ('{kind}') cannot be printed as C",
                "write a loop: 'vectorize' in a schedule marks it for the C compiler",
            )
        case _:
            width = bits(kind)
            if width is None:
                raise SourceError.at(value, f"type '{kind}' cannot be printed as C")
            return "bool" if width == 1 else f"int{width}_t"


def type_of(value: SSAValue) -> str:
    """The C type of a value, or of the elements of a memref; raises SourceError."""
    return c_type(value.type, value)


def size_in_bytes(name: str) -> int:
    """Bytes of a C type."""
    sizes = {"_Float16": 2, "__bf16": 2, "float": 4, "double": 8, "bool": 1}
    return sizes[name] if name in sizes else int(name.removeprefix("int").removesuffix("_t")) // 8


HEADERS = {"bool": "stdbool.h"}
"""The header that a C type needs; `stdint.h` where it is not here."""
