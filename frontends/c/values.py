"""Values of C expressions: constants, affine integers, and numbers known when the kernel runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ...runtime.calling.elements import ELEMENTS, numbers, stored
from ..text.affine import Affine, Index
from ..text.literals import float_literal
from .c_types import ComplexType, Elements, IntegerType, NumberType

LARGEST = 1 << 62
"""Constants of affine integers are below."""


@dataclass(frozen=True)
class Constant:
    """A number that is known when the program is translated."""

    value: int | float | complex
    type: NumberType


@dataclass(frozen=True)
class Linear:
    """An integer that is affine in loop variables and sizes, and lies in its type."""

    index: Index
    type: IntegerType


@dataclass(frozen=True)
class Scalar:
    """A number in an SSA value."""

    name: str
    type: NumberType


@dataclass(frozen=True)
class Array:
    """An array as a memref: its name in the text and its type."""

    name: str
    elements: Elements


Value: TypeAlias = "Constant | Linear | Scalar"


def index_of(value: Value) -> Index | None:
    """A value as an affine integer."""
    if isinstance(value, Linear):
        return value.index
    if isinstance(value, Constant) and isinstance(value.value, int):
        return Index((Affine(constant=value.value),)) if abs(value.value) < LARGEST else None
    return None


def rounded(value: int | float | complex, kind: NumberType) -> int | float | complex:
    """A number converted as C does; raises OverflowError, ValueError where C says nothing."""
    if isinstance(kind, ComplexType):
        return complex(*(rounded(part, kind.part).real for part in parts_of(value)))
    if isinstance(kind, IntegerType):
        if kind.width == 1:
            return int(value != 0)
        value = value.real
        if isinstance(value, int):
            return kind.wrap(value)
        whole = int(value)
        if not kind.lowest <= whole <= kind.highest:
            raise OverflowError
        return whole
    with np.errstate(all="ignore"):
        exact = np.asarray(value.real, np.float64)
        return float(numbers(stored(exact, ELEMENTS[kind.mlir].dtype))[()])


def parts_of(value: int | float | complex) -> tuple[int | float, int | float]:
    """The real and the imaginary part of a number."""
    return value.real, value.imag


def literal(value: int | float | complex, kind: NumberType) -> str:
    """The text of a constant."""
    if isinstance(kind, IntegerType):
        if kind.width == 1:
            return "true" if value else "false"
        signed = IntegerType("", kind.width, signed=True)
        return str(signed.wrap(int(value.real)))
    if isinstance(kind, ComplexType):
        part = kind.part.mlir
        texts = (f"{float_literal(float(each), part)} : {part}" for each in parts_of(value))
        return f"[{', '.join(texts)}]"
    return float_literal(float(value.real), kind.mlir)
