"""Operations of the complex dialect -> operations on real and imaginary parts.

    %2 = complex.mul %0, %1 : complex<f64>   ->   %a = arith.mulf %re0, %re1 : f64
                                                  %b = arith.mulf %im0, %im1 : f64
                                                  %re2 = arith.subf %a, %b : f64  ...

Quotients are those of Smith's algorithm, as in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from xdsl.dialects import arith, math
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import AnyFloat, FloatAttr, f32, f64, i1
from xdsl.ir import Operation, SSAValue

from .....dialects.arith import ExtFOp, SelectOp, TruncFOp
from ..cells import insert_before

Pair: TypeAlias = "tuple[SSAValue, SSAValue]"
"""The real and the imaginary part of a number."""

_LARGE, _SMALL = 1e150, 1e-150
_DOWN, _UP = 2.0**-600, 2.0**600
"""Squares of numbers beyond `_LARGE` and below `_SMALL` are computed of scaled ones."""


class Emission:
    """Operations on real numbers of one type, in front of an operation."""

    def __init__(self, anchor: Operation, kind: AnyFloat) -> None:
        self.anchor = anchor
        self.kind = kind
        flags = anchor.get_attr_or_prop("fastmath")
        self.flags = flags if isinstance(flags, FastMathFlagsAttr) else FastMathFlagsAttr("none")

    def put(self, operation: Operation) -> SSAValue:
        """Inserts an operation, and gives its result."""
        insert_before(self.anchor, operation)
        return operation.results[0]

    def constant(self, value: float) -> SSAValue:
        """A constant."""
        return self.put(arith.ConstantOp(FloatAttr(value, self.kind)))

    def add(self, one: SSAValue, other: SSAValue) -> SSAValue:
        """A sum."""
        return self.put(arith.AddfOp(one, other, self.flags))

    def subtract(self, one: SSAValue, other: SSAValue) -> SSAValue:
        """A difference."""
        return self.put(arith.SubfOp(one, other, self.flags))

    def multiply(self, one: SSAValue, other: SSAValue) -> SSAValue:
        """A product."""
        return self.put(arith.MulfOp(one, other, self.flags))

    def divide(self, one: SSAValue, other: SSAValue) -> SSAValue:
        """A quotient."""
        return self.put(arith.DivfOp(one, other, self.flags))

    def negate(self, value: SSAValue) -> SSAValue:
        """The negative."""
        return self.put(arith.NegfOp(value, self.flags))

    def function(self, make: type[Operation], *operands: SSAValue) -> SSAValue:
        """An operation of math."""
        properties = {"fastmath": self.flags}
        return self.put(
            make.create(operands=operands, result_types=[operands[0].type], properties=properties)
        )

    def test(self, predicate: str, one: SSAValue, other: SSAValue) -> SSAValue:
        """A comparison."""
        return self.put(arith.CmpfOp(one, other, predicate))

    def choose(self, truth: SSAValue, one: SSAValue, other: SSAValue) -> SSAValue:
        """One of two numbers."""
        return self.put(SelectOp(truth, one, other))

    def logic(self, make: type[Operation], tests: Iterable[SSAValue]) -> SSAValue:
        """An operation on truth values."""
        return self.put(make.create(operands=list(tests), result_types=[i1]))


def _sum(emit: Emission, one: Pair, other: Pair) -> Pair:
    return emit.add(one[0], other[0]), emit.add(one[1], other[1])


def _difference(emit: Emission, one: Pair, other: Pair) -> Pair:
    return emit.subtract(one[0], other[0]), emit.subtract(one[1], other[1])


def _product(emit: Emission, one: Pair, other: Pair) -> Pair:
    (a, b), (c, d) = one, other
    real = emit.subtract(emit.multiply(a, c), emit.multiply(b, d))
    return real, emit.add(emit.multiply(a, d), emit.multiply(b, c))


def quotient(emit: Emission, one: Pair, other: Pair) -> Pair:
    """Smith's algorithm: divides by the larger part of the divisor first."""
    (a, b), (c, d) = one, other
    size_c, size_d = emit.function(math.AbsFOp, c), emit.function(math.AbsFOp, d)
    by_real = emit.test("oge", size_c, size_d)
    large, small = emit.choose(by_real, c, d), emit.choose(by_real, d, c)
    first, second = emit.choose(by_real, a, b), emit.choose(by_real, b, a)
    zero = emit.constant(0.0)
    is_zero = emit.test("oeq", large, zero)
    ratio = emit.divide(small, large)
    divisor = emit.add(large, emit.multiply(small, ratio))
    divisor = emit.choose(is_zero, size_c, divisor)
    scale = emit.divide(emit.constant(1.0), divisor)
    across = emit.choose(is_zero, zero, emit.multiply(second, ratio))
    along = emit.choose(is_zero, zero, emit.multiply(first, ratio))
    real = emit.add(first, across)
    imaginary = emit.choose(by_real, emit.subtract(second, along), emit.subtract(along, second))
    return emit.multiply(real, scale), emit.multiply(imaginary, scale)


def _negative(emit: Emission, value: Pair) -> Pair:
    return emit.negate(value[0]), emit.negate(value[1])


def _conjugate(emit: Emission, value: Pair) -> Pair:
    return value[0], emit.negate(value[1])


def _exponential(emit: Emission, value: Pair) -> Pair:
    """exp(a) (cos(b) + i sin(b)); a real number for b = 0, also where exp(a) is infinite."""
    size = emit.function(math.ExpOp, value[0])
    is_real = emit.test("oeq", value[1], emit.constant(0.0))
    cosine = emit.multiply(size, emit.function(math.CosOp, value[1]))
    sine = emit.multiply(size, emit.function(math.SinOp, value[1]))
    return emit.choose(is_real, size, cosine), emit.choose(is_real, value[1], sine)


def _absolute(emit: Emission, value: Pair) -> SSAValue:
    """sqrt(a a + b b) without overflow; infinite where a part is, also beside a NaN."""
    if emit.kind == f32:
        wide = Emission(emit.anchor, f64)
        a, b = (wide.put(ExtFOp(part, f64)) for part in value)
        size = emit.put(TruncFOp(wide.function(math.SqrtOp, _squares(wide, a, b)), f32))
    else:
        size = _scaled_absolute(emit, value)
    infinite = emit.constant(float("inf"))
    tests = [emit.test("oeq", emit.function(math.AbsFOp, part), infinite) for part in value]
    return emit.choose(emit.logic(arith.OrIOp, tests), infinite, size)


def _squares(emit: Emission, a: SSAValue, b: SSAValue) -> SSAValue:
    return emit.add(emit.multiply(a, a), emit.multiply(b, b))


def _scaled_absolute(emit: Emission, value: Pair) -> SSAValue:
    """Scaled by a power of two where a square would overflow, or both be too small."""
    sizes = [emit.function(math.AbsFOp, part) for part in value]
    largest = emit.function(arith.MaximumfOp, *sizes)
    is_large = emit.test("ogt", largest, emit.constant(_LARGE))
    is_small = emit.test("olt", largest, emit.constant(_SMALL))
    one, down, up = (emit.constant(number) for number in (1.0, _DOWN, _UP))
    scale = emit.choose(is_large, down, emit.choose(is_small, up, one))
    back = emit.choose(is_large, up, emit.choose(is_small, down, one))
    a, b = (emit.multiply(part, scale) for part in value)
    return emit.multiply(emit.function(math.SqrtOp, _squares(emit, a, b)), back)


def _angle(emit: Emission, value: Pair) -> SSAValue:
    return emit.function(math.Atan2Op, value[1], value[0])


def _equal(emit: Emission, one: Pair, other: Pair) -> SSAValue:
    tests = (emit.test("oeq", a, b) for a, b in zip(one, other, strict=True))
    return emit.logic(arith.AndIOp, tests)


def _unequal(emit: Emission, one: Pair, other: Pair) -> SSAValue:
    tests = (emit.test("une", a, b) for a, b in zip(one, other, strict=True))
    return emit.logic(arith.OrIOp, tests)


PAIRS: Mapping[str, Callable[..., Pair]] = {
    "arith.addf": _sum,
    "arith.divf": quotient,
    "arith.mulf": _product,
    "arith.negf": _negative,
    "arith.subf": _difference,
    "complex.add": _sum,
    "complex.conj": _conjugate,
    "complex.div": quotient,
    "complex.exp": _exponential,
    "complex.mul": _product,
    "complex.neg": _negative,
    "complex.sub": _difference,
}
"""Operations that give a complex number, as functions of an Emission and the parts of operands."""


def _real(_: Emission, value: Pair) -> SSAValue:
    return value[0]


def _imaginary(_: Emission, value: Pair) -> SSAValue:
    return value[1]


NUMBERS: Mapping[str, Callable[..., SSAValue]] = {
    "complex.abs": _absolute,
    "complex.angle": _angle,
    "complex.eq": _equal,
    "complex.im": _imaginary,
    "complex.neq": _unequal,
    "complex.re": _real,
}
"""Operations that give a real number or a truth value."""
