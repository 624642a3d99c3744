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
from typing import Any

import numpy as np
from numpy.typing import NDArray

BFLOAT16: np.dtype[Any] = np.dtype([("bfloat16", "<u2")])
"""Elements of type bf16 in NumPy, which has no type for these: the upper half of a float32."""

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
        if self.bits is None:
            return {"f32": "float", "f64": "double"}.get(self.name, "i16")
        return f"i{max(8, self.bits)}"

    @property
    def is_narrow(self) -> bool:
        """Whether it is f16 or bf16, which are passed as their bits."""
        return self.ctype is c_uint16 and self.bits is None

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

    def to_python(self, value: float) -> float | bool:
        """A result, as C gives it, as a number of Python."""
        if self.is_narrow:
            return self.number_of(int(value))
        # Of a boolean only the lowest bit is defined.
        return bool(int(value) & 1) if self.bits == 1 else value

    def bits_of(self, number: float) -> int:
        """The bits of a number as f16 or bf16."""
        return int(stored(np.asarray(number, np.float64), self.dtype).view(np.uint16)[()])

    def number_of(self, bits: int) -> float:
        """The number that has these bits as f16 or bf16."""
        return float(numbers(np.asarray(bits, np.uint16).view(self.dtype)))

    def signed(self) -> Element:
        """The integer type of these bits with a sign."""
        return replace(self, dtypes=self.dtypes[:1])


def dtype_name(dtype: object) -> str:
    """The name of a type of elements, for people."""
    return "bfloat16" if dtype == BFLOAT16 else str(dtype)


def numbers(array: NDArray[Any]) -> NDArray[Any]:
    """An array of bf16 as float32; others as they are."""
    if array.dtype != BFLOAT16:
        return array
    return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def stored(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Numbers as elements of a type, rounded to the nearest."""
    exact = np.asarray(values, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype != BFLOAT16:
            return values.astype(dtype)
        near = exact.astype(np.float32)
    bits = near.view(np.uint32)
    # Of the two neighbours of a number, the odd one: rounding it rounds once.
    wide = near.astype(np.float64)
    is_between = (wide != exact) & (bits & 1 == 0) & np.isfinite(exact)
    is_below = np.abs(wide) < np.abs(exact)
    bits = np.where(is_between, np.where(is_below, bits + np.uint32(1), bits - np.uint32(1)), bits)
    rounded = bits + np.uint32(0x7FFF) + (bits >> 16 & 1)
    quiet = bits | np.uint32(0x400000)
    upper = np.where(np.isnan(exact), quiet, rounded) >> 16
    return np.ascontiguousarray(upper.astype(np.uint16)).view(BFLOAT16).reshape(exact.shape)


_UNSIGNED: dict[int, CScalar] = {8: c_uint8, 16: c_uint16, 32: c_uint32, 64: c_uint64}


def _element(name: str, dtypes: str, ctype: CScalar, bits: int | None = None) -> Element:
    return Element(name, tuple(np.dtype(dtype) for dtype in dtypes.split()), ctype, bits)


ELEMENTS = {
    element.name: element
    for element in (
        _element("f16", "float16", c_uint16),
        Element("bf16", (BFLOAT16,), c_uint16),
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

COMPLEX_ELEMENTS = {
    "f32": _element("complex<f32>", "complex64", c_float),
    "f64": _element("complex<f64>", "complex128", c_double),
}
"""The elements of arrays of complex numbers, by the MLIR name of a part."""
