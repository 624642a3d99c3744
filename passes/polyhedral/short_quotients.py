"""Quotients of short integers and constants, exact to the bit without a division.

    x / 255    ->    q = x * (1 / 255);  q + (x - q * 255) * (1 / 255)                     x: pixels

A product with the reciprocal is off by a bit for some integers, and a correction by its remainder,
which fused operations find exactly, is not: for so few integers, all are looked at (after
Brisebarre, Muller, Raina, "Accelerating correctly rounded floating-point division when the divisor
is known in advance", 2004).
"""

from __future__ import annotations

import math
from enum import Enum
from fractions import Fraction
from functools import lru_cache

import numpy as np
from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    Float32Type,
    Float64Type,
    FloatAttr,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from .integer_ranges import Range, integer_ranges, integer_width

MOST_INTEGERS = 1024
"""Dividends that are looked at."""

_MOST_OPERATIONS = 16
"""Operations that compute a dividend."""

_SMALLEST = 2.0**-30
"""Divisors are greater, and less than the reciprocal: nothing overflows or underflows."""


class ShortQuotient(Enum):
    """How a quotient is computed: by a product, or with a correction of it."""

    PRODUCT = "product"
    CORRECTED = "corrected"


def short_quotient(operation: Operation) -> tuple[ShortQuotient, float] | None:
    """How a quotient may be computed without a division, and by which factor; None if not."""
    if not isinstance(operation, arith.DivfOp):
        return None
    kind, divisor = _element(operation.result.type), _constant(operation.rhs)
    conversion = operation.lhs.owner
    if divisor is None or not isinstance(kind, Float32Type | Float64Type):
        return None
    if not isinstance(conversion, arith.SIToFPOp | arith.UIToFPOp):
        return None
    found = _range(conversion)
    if found is None or found.high - found.low >= MOST_INTEGERS:
        return None
    number = np.float32 if isinstance(kind, Float32Type) else np.float64
    way = _way(found, divisor, number)
    return None if way is None else (way, float(_reciprocal(divisor, number)))


def _element(kind: Attribute) -> Attribute:
    return kind.element_type if isa(kind, VectorType) else kind


def _constant(value: SSAValue) -> float | None:
    """A constant, or that of all lanes of a vector."""
    match value.owner:
        case arith.ConstantOp(value=FloatAttr() as number):
            return number.value.data
        case arith.ConstantOp(value=DenseIntOrFPElementsAttr() as elements):
            lanes = set(elements.get_values())
            number = lanes.pop()
            return None if lanes or not isinstance(number, float) else number
        case vector.BroadcastOp(source=source):
            return _constant(source)
        case _:
            return None


def _range(conversion: arith.SIToFPOp | arith.UIToFPOp) -> Range | None:
    """The integers that are converted."""
    value = conversion.input
    chain: list[Operation] = []
    pending = [value]
    while pending and len(chain) <= _MOST_OPERATIONS:
        operation = pending.pop().owner
        if isinstance(operation, Operation) and operation.name.startswith("arith."):
            chain.append(operation)
            pending += operation.operands
    if pending:
        return None
    found = integer_ranges(dict.fromkeys(reversed(chain))).get(value)
    signed = isinstance(conversion, arith.SIToFPOp)
    bits = integer_width(value.type)
    if found is None and bits is not None:
        found = Range.of(bits, signed=signed)
    return found if found is not None and (signed or found.low >= 0) else None


_Number = type[np.float32] | type[np.float64]


def _reciprocal(divisor: float, number: _Number) -> np.floating:
    return number(1) / number(divisor)


@lru_cache(maxsize=256)
def _way(integers: Range, divisor: float, number: _Number) -> ShortQuotient | None:
    divisor = float(number(divisor))
    if not _SMALLEST < divisor < 1 / _SMALLEST:
        return None
    dividends = np.arange(integers.low, integers.high + 1).astype(number)
    reciprocal = _reciprocal(divisor, number)
    exact, product = dividends / number(divisor), dividends * reciprocal
    if (exact == product).all():
        return ShortQuotient.PRODUCT
    for dividend, quotient, first in zip(dividends, exact, product, strict=True):
        rest = Fraction(float(dividend)) - Fraction(float(first)) * Fraction(divisor)
        if Fraction(float(number(float(rest)))) != rest:
            return None
        corrected = Fraction(float(first)) + rest * Fraction(float(reciprocal))
        ends = (np.nextafter(quotient, number(sign * math.inf)) for sign in (-1, 1))
        low, high = ((Fraction(float(end)) + Fraction(float(quotient))) / 2 for end in ends)
        if not low < corrected < high:
            return None
    return ShortQuotient.CORRECTED
