"""Types of C: integers, floating-point numbers, arrays and pointers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class IntegerType:
    """An integer type; `rank` orders those of one width (`long` and `long long`)."""

    name: str
    width: int
    signed: bool
    rank: int = 0

    def __str__(self) -> str:
        return self.name

    @property
    def mlir(self) -> str:
        """The type in the text, where integers have no sign."""
        return f"i{self.width}"

    @property
    def lowest(self) -> int:
        """The smallest value."""
        return -(1 << (self.width - 1)) if self.signed else 0

    @property
    def highest(self) -> int:
        """The largest value."""
        return (1 << (self.width - self.signed)) - 1

    def has_all_of(self, other: IntegerType) -> bool:
        """Whether this type has all values of another one."""
        return self.lowest <= other.lowest and other.highest <= self.highest

    def wrap(self, value: int) -> int:
        """The value of this type that is equal modulo 2^width."""
        value &= (1 << self.width) - 1
        return value - (1 << self.width) if value > self.highest else value


@dataclass(frozen=True)
class FloatType:
    """`float`, `double`, `_Float16` or `__bf16`."""

    name: str
    width: int

    def __str__(self) -> str:
        return self.name

    @property
    def mlir(self) -> str:
        """The type in the text."""
        return "bf16" if self.name == "__bf16" else f"f{self.width}"


@dataclass(frozen=True)
class ComplexType:
    """`float _Complex` or `double _Complex`: a real and an imaginary part of one type."""

    part: FloatType

    def __str__(self) -> str:
        return f"_Complex {self.part}"

    @property
    def width(self) -> int:
        """The bits of both parts."""
        return 2 * self.part.width

    @property
    def mlir(self) -> str:
        """The type in the text."""
        return f"complex<{self.part.mlir}>"


NumberType: TypeAlias = IntegerType | FloatType | ComplexType


@dataclass(frozen=True)
class ArrayType:
    """An array; `extent` is None where only the run knows it (`spelling` has a VLA's).

    An element of an array that `is_structure` is one as well: a row of its members.
    """

    element: CType
    extent: int | None
    spelling: str = ""
    is_structure: bool = False

    def __str__(self) -> str:
        return self.spelling


@dataclass(frozen=True)
class PointerType:
    """A pointer."""

    target: CType
    restrict: bool
    spelling: str = ""

    def __str__(self) -> str:
        return self.spelling


@dataclass(frozen=True)
class OtherType:
    """A type that loops over arrays do not compute with."""

    spelling: str

    def __str__(self) -> str:
        return self.spelling


def has_structures(kind: CType) -> bool:
    """Whether the elements of an array, or what a pointer leads to, are structures."""
    while isinstance(kind, ArrayType | PointerType):
        if isinstance(kind, ArrayType) and kind.is_structure:
            return True
        kind = kind.element if isinstance(kind, ArrayType) else kind.target
    return False


CType: TypeAlias = NumberType | ArrayType | PointerType | OtherType

BOOL = IntegerType("_Bool", 1, signed=False)
INT = IntegerType("int", 32, signed=True)
UNSIGNED = IntegerType("unsigned int", 32, signed=False)
LONG = IntegerType("long", 64, signed=True, rank=1)
FLOAT, DOUBLE = FloatType("float", 32), FloatType("double", 64)


def complex_of(left: ComplexType, right: CType) -> ComplexType:
    """The type of `left * right`, which has parts as long as the longer ones of both."""
    part = right.part if isinstance(right, ComplexType) else right
    return ComplexType(DOUBLE) if part == DOUBLE else left


def promoted(kind: NumberType) -> NumberType:
    """The integer promotion: what arithmetic makes of a short type."""
    return INT if isinstance(kind, IntegerType) and kind.width < 32 else kind


@dataclass(frozen=True)
class Elements:
    """An array or pointer as a memref: the type of its elements, and its extents.

    None is an extent that only the run knows.
    """

    element: NumberType
    extents: tuple[int | None, ...]

    @property
    def mlir(self) -> str:
        """The memref type."""
        shape = "".join(f"{'?' if each is None else each}x" for each in self.extents)
        return f"memref<{shape}{self.element.mlir}>"

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.extents)

    @property
    def parts(self) -> Elements:
        """The real numbers in memory: complex ones have another dimension of 2."""
        if isinstance(self.element, ComplexType):
            return Elements(self.element.part, (*self.extents, 2))
        return self


def elements_of(kind: CType, *, parameter: bool) -> Elements | None:
    """The memref that an array or pointer is; None where it is none.

    The outermost extent of a parameter says nothing about what is passed.
    """
    extents: list[int | None] = []
    if isinstance(kind, PointerType):
        extents.append(None)
        kind = kind.target
    elif isinstance(kind, ArrayType) and parameter:
        extents.append(None)
        kind = kind.element
    while isinstance(kind, ArrayType):
        extents.append(kind.extent)
        kind = kind.element
    if not extents or not isinstance(kind, NumberType):
        return None
    return Elements(kind, tuple(extents))
