"""Element types of arrays and scalars in annotations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ...runtime.calling.array_memory import is_tensor
from ...runtime.calling.elements import BFLOAT16, numbers, stored


@dataclass(frozen=True)
class ArrayType:
    """The type of an array argument: `f64["N", 3]`.

    An extent is a number, or a name: that of an integer argument, or any other, which then stands
    for one extent wherever it is written.
    """

    element: ElementType
    extents: tuple[int | str, ...]

    def __str__(self) -> str:
        return f"{self.element}[{', '.join(str(extent) for extent in self.extents)}]"

    def permuted(self, order: tuple[int, ...]) -> ArrayType:
        """The type of the array with its dimensions in another order."""
        return ArrayType(self.element, tuple(self.extents[dimension] for dimension in order))

    @property
    def mlir(self) -> str:
        """The memref type."""
        shape = "".join(f"{'?' if isinstance(e, str) else e}x" for e in self.extents)
        return f"memref<{shape}{self.element.mlir}>"


@dataclass(frozen=True)
class ElementType:
    """A type of numbers: that of a scalar by itself, `f64["N", "N"]` that of an array.

    Called, it converts a number as NumPy does, inside of kernels and outside.
    """

    name: str

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"loopwright.{self.name}"

    def __reduce__(self) -> tuple[object, ...]:
        return ElementType, (self.name,)

    def __getitem__(self, extents: object) -> ArrayType:
        given = cast(tuple[object, ...], extents if isinstance(extents, tuple) else (extents,))
        checked: list[int | str] = []
        for extent in given:
            if isinstance(extent, str) and extent.isidentifier():
                checked.append(extent)
            elif isinstance(extent, int) and not isinstance(extent, bool):
                if extent < 0:
                    raise ValueError(f"{self.name}[...]: the extent {extent} is negative")
                checked.append(int(extent))
            elif isinstance(extent, slice):
                raise TypeError(
                    f"{self.name}[...]: ':' is no extent; give each a name or a number, "
                    f'{self.name}["N", 3], or leave out the annotation'
                )
            else:
                raise TypeError(
                    f"{self.name}[...]: the extent {extent!r} is neither a number nor a name; "
                    f'write {self.name}["N", 3]'
                )
        return ArrayType(self, tuple(checked))

    def __call__(self, value: Any) -> Any:
        # A tensor of bfloat16 is no array of NumPy.
        return self.number(value.item() if is_tensor(value) else value)

    def number(self, value: Any) -> Any:
        """The nearest number of this type: a scalar of NumPy, of float32 for bf16."""
        if self.name != "bf16":
            return self.numpy(value)
        return np.float32(numbers(stored(np.asarray(value, np.float64), BFLOAT16))[()])

    @property
    def mlir(self) -> str:
        """The type in the text, where integers have no sign."""
        if self.is_complex:
            return f"complex<{self.part}>"
        return "i1" if self.is_truth else self.name.replace("u", "i")

    @property
    def is_unsigned(self) -> bool:
        """Whether it is an integer type without a sign: also that of truth values."""
        return self.name.startswith("u") or self.is_truth

    @property
    def is_truth(self) -> bool:
        """Whether it is the type of truth values."""
        return self.name == "b1"

    @property
    def is_float(self) -> bool:
        """Whether it is a floating-point type, or a complex one."""
        return self.name.startswith(("f", "bf", "c"))

    @property
    def is_complex(self) -> bool:
        """Whether it is a type of complex numbers."""
        return self.name.startswith("c")

    @property
    def part(self) -> ElementType:
        """The type of the real and imaginary part."""
        return ElementType(f"f{self.width // 2}") if self.is_complex else self

    @property
    def width(self) -> int:
        """The bits of a number."""
        return int(self.name.lstrip("bcfiu"))

    @property
    def numpy(self) -> Any:
        """The scalar type of NumPy; bf16 has none."""
        if self.name == "bf16":
            return BFLOAT16
        if self.is_truth:
            return np.bool_
        kind = {"c": "complex", "f": "float", "i": "int", "u": "uint"}[self.name[0]]
        return getattr(np, f"{kind}{self.width}")

    @property
    def dtype(self) -> Any:
        """The type of NumPy's arrays: `np.zeros(n, dtype=f32)` takes this type as its own."""
        return np.dtype(self.numpy)

    def holds(self, value: Any) -> bool:
        """Whether it has exactly this number."""
        if self.is_complex or isinstance(value, complex):
            number = complex(value)
            parts = (number.real, number.imag) if self.is_complex else ()
            return bool(parts) and all(map(self.part.holds, parts))
        if self.is_float:
            return value != value or float(self.number(value)) == value
        low, high = (0, self.width) if self.is_unsigned else (1, self.width - 1)
        return value == value and -low << high <= value < 1 << high and value == int(value)

    @property
    def is_narrow(self) -> bool:
        """Whether it is f16 or bf16."""
        return self.is_float and self.width == NARROW

    def holds_all(self, other: ElementType) -> bool:
        """Whether every number of the other type is one of this, or is taken for one by NumPy."""
        if self == other:
            return True
        if "bf16" in (self.name, other.name):
            if self.name == "bf16":
                return other.width < NARROW
            return self.is_float and self.width > NARROW
        return bool(np.can_cast(other.numpy, self.numpy))


NARROW = 16
"""Bits of the floating-point types whose arithmetic is that of f32."""

bf16, f16, f32, f64 = (ElementType(name) for name in ("bf16", "f16", "f32", "f64"))
i8, i16, i32, i64 = (ElementType(f"i{width}") for width in (8, 16, 32, 64))
u8, u16, u32, u64 = (ElementType(f"u{width}") for width in (8, 16, 32, 64))
b1 = ElementType("b1")
c64, c128 = (ElementType(f"c{width}") for width in (64, 128))

ELEMENT_TYPES = (bf16, f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, b1, c64, c128)


def promoted(first: ElementType, *others: ElementType) -> ElementType | None:
    """The type in which NumPy computes with several types, and torch where one is bf16.

    NumPy looks at all of them at once: i8, u8 and f16 are f16, but two of them may be f32.
    """
    every = (first, *others)
    if bf16 not in every:
        return element_type(np.result_type(*(each.numpy for each in every)).type)
    floats = [each for each in every if each.is_float and each != bf16]
    if not floats:
        return bf16
    return promoted(*(f32 if each.is_narrow else each for each in floats))


def dtype(value: object) -> ElementType | None:
    """The element type that `dtype=` means, where it may be one of Python's types as well."""
    if isinstance(value, type):
        types = {complex: np.complex128, float: np.float64, int: np.int64, bool: np.bool_}
        value = types.get(value, value)
    return element_type(value)


def element_type(value: object) -> ElementType | None:
    """The element type that a captured object stands for, such as `np.float32`."""
    if isinstance(value, ElementType):
        return value
    for each in ELEMENT_TYPES:
        if value is each.numpy:
            return each
    return None
