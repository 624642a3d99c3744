"""Values of expressions: constants, affine integers, and numbers known when the kernel runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

from ..text.affine import Affine, Index
from ..text.literals import float_literal
from .element_types import ELEMENT_TYPES, ElementType, c128, f64, i64

Number: TypeAlias = "int | float | np.number[Any]"


@dataclass(frozen=True)
class Constant:
    """A number that is known at decoration: of Python, or a scalar of NumPy with its type."""

    value: Number

    @property
    def element(self) -> ElementType | None:
        """The type of NumPy; None for a number of Python, which takes the type of others."""
        return next((e for e in ELEMENT_TYPES if type(self.value) is e.numpy), None)

    @property
    def is_float(self) -> bool:
        """Whether it is a floating-point number, or a complex one."""
        return isinstance(self.value, float | np.floating) or self.is_complex

    @property
    def is_complex(self) -> bool:
        """Whether it is a complex number."""
        return isinstance(cast(object, self.value), complex | np.complexfloating)

    @property
    def index(self) -> Index | None:
        """The integer as an affine expression."""
        if self.is_float:
            return None
        return Index((Affine(constant=int(self.value)),))


@dataclass(frozen=True)
class Scalar:
    """A number in an SSA value.

    One that is `weak` is a number of Python when the function runs undecorated: it takes the type
    of the other operand. It may be known to be one of some `constants`.
    """

    name: str
    element: ElementType
    weak: bool = False
    constants: tuple[Number, ...] | None = None


Value: TypeAlias = "Constant | Index | Scalar"


def is_weak(value: Value) -> bool:
    """Whether a value is a number of Python."""
    if isinstance(value, Scalar):
        return value.weak
    return isinstance(value, Index) or value.element is None


def is_float(value: Value) -> bool:
    """Whether a value is a floating-point number."""
    if isinstance(value, Scalar):
        return value.element.is_float
    return isinstance(value, Constant) and value.is_float


def element_of(value: Value) -> ElementType:
    """The type that a value has by itself."""
    if isinstance(value, Index):
        return i64
    if value.element is not None:
        return value.element
    return c128 if value.is_complex else f64 if value.is_float else i64


def is_complex(value: Value) -> bool:
    """Whether a value is a complex number."""
    return element_of(value).is_complex


def type_name(value: Value) -> str:
    """The type in the user's terms."""
    if is_weak(value):
        return _python_name(element_of(value))
    return str(element_of(value))


def _python_name(element: ElementType) -> str:
    return "complex" if element.is_complex else "float" if element.is_float else "int"


def literal(value: Number, element: ElementType) -> str:
    """The text of a constant."""
    if element.is_truth:
        return str(bool(value)).lower()
    if not element.is_float:
        return str(int(value))
    number = element.number(value)
    if not element.is_complex:
        return float_literal(float(number), element.name)
    part = element.part.name
    texts = (f"{float_literal(float(each), part)} : {part}" for each in (number.real, number.imag))
    return f"[{', '.join(texts)}]"


@dataclass(frozen=True)
class Kind:
    """The type of a variable, or of a choice between values.

    Numbers that are known at decoration (`constants`) may still take another type that has them
    exactly; None where there are others.
    """

    element: ElementType
    weak: bool
    constants: tuple[Number, ...] | None

    @classmethod
    def of(cls, value: Value) -> Kind:
        """The kind of one value."""
        known = isinstance(value, Constant) and value.element is None
        constants = (value.value,) if isinstance(value, Constant) and known else None
        if isinstance(value, Scalar):
            constants = value.constants
        return cls(element_of(value), is_weak(value), constants)

    def join(self, other: Kind) -> Kind | None:
        """What holds values of both kinds exactly and behaves as both; None where nothing does."""
        if self.element == other.element:
            both = self.constants is not None and other.constants is not None
            constants = (self.constants or ()) + (other.constants or ()) if both else None
            return Kind(self.element, self.weak and other.weak, constants)
        return self._taking(other) or other._taking(self)

    def _taking(self, other: Kind) -> Kind | None:
        """This kind, where it has all the constants that the other one is."""
        if other.constants is None or (other.element.is_float and not self.element.is_float):
            return None
        is_zero = all(value == 0 and type(value) is int for value in other.constants)
        if (self.weak and self.element.is_float and not is_zero) or self.element.is_truth:
            return None  # an integer keeps the type of an integer operand, a float does not
        if not all(self.element.holds(value) for value in other.constants):
            return None
        constants = None if self.constants is None else self.constants + other.constants
        return Kind(self.element, self.weak, constants)

    def same_constants(self, other: Kind) -> bool:
        """Whether the values that are known are the same."""
        one, other_one = self.constants, other.constants
        if one is None or other_one is None:
            return one is other_one
        return set(map(repr, one)) == set(map(repr, other_one))

    def __str__(self) -> str:
        if self.weak:
            return _python_name(self.element)
        return str(self.element)
