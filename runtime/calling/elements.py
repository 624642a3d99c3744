"""Element types: MLIR scalar types in NumPy and in the C calling convention."""

from __future__ import annotations

from ctypes import (
    c_double,
    c_float,
    c_int8,
    c_int16,
    c_int32,
    c_int64,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
)
from dataclasses import dataclass, replace

import numpy as np

CScalar = (
    type[c_float]
    | type[c_double]
    | type[c_uint8]
    | type[c_int8]
    | type[c_int16]
    | type[c_int32]
    | type[c_int64]
    | type[c_uint16]
    | type[c_uint32]
    | type[c_uint64]
)


@dataclass(frozen=True)
class Element:
    """A scalar type.

    `dtypes` are the NumPy types with these bits, the usual one first: MLIR's integers have no sign,
    so arrays of unsigned integers are taken as well, and the operations of the program decide
    what the bits mean. `bits` is the number of bits of an integer type, None for floats. Where a
    program says that an argument `is_unsigned`, it takes numbers of the unsigned type alone.
    """

    name: str
    dtypes: tuple[np.dtype[np.generic], ...]
    ctype: CScalar
    bits: int | None = None
    is_unsigned: bool = False

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The usual NumPy type."""
        return self.dtypes[0]

    @property
    def llvm(self) -> str:
        """The LLVM type in arguments."""
        return {"f32": "float", "f64": "double"}.get(self.name) or f"i{max(8, self.bits or 0)}"

    @property
    def range(self) -> tuple[int, int]:
        """Smallest and largest value of an integer type."""
        assert self.bits is not None, "only integers have a range"
        if self.bits == 1 or self.is_unsigned:
            return 0, (1 << self.bits) - 1
        return -(1 << self.bits - 1), (1 << self.bits - 1) - 1

    def signed_value(self, number: int) -> int:
        """The number that MLIR's operations with signs see."""
        assert self.bits is not None, "only integers have a sign"
        return number - (1 << self.bits) if self.is_unsigned and number >> self.bits - 1 else number

    def unsigned(self) -> Element:
        """The integer type of these bits without a sign."""
        assert self.bits is not None, "only integers have a sign"
        ctype = _UNSIGNED[self.bits]
        return Element(f"u{self.bits}", self.dtypes[1:], ctype, self.bits, is_unsigned=True)

    def signed(self) -> Element:
        """The integer type of these bits with a sign."""
        return replace(self, dtypes=self.dtypes[:1])


_UNSIGNED: dict[int, CScalar] = {8: c_uint8, 16: c_uint16, 32: c_uint32, 64: c_uint64}


def _element(name: str, dtypes: str, ctype: CScalar, bits: int | None = None) -> Element:
    return Element(name, tuple(np.dtype(dtype) for dtype in dtypes.split()), ctype, bits)


ELEMENTS = {
    element.name: element
    for element in (
        _element("f32", "float32", c_float),
        _element("f64", "float64", c_double),
        _element("i1", "bool", c_uint8, 1),
        _element("i8", "int8 uint8", c_int8, 8),
        _element("i16", "int16 uint16", c_int16, 16),
        _element("i32", "int32 uint32", c_int32, 32),
        _element("i64", "int64 uint64", c_int64, 64),
        _element("index", "int64 uint64", c_int64, 64),
    )
}
"""Element types by their MLIR name."""
