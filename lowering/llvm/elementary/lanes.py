"""Arithmetic on a scalar, or on each lane of a vector, for definitions that hold for both.

No instruction carries fast-math flags: LLVM neither contracts nor reassociates any, and every lane
gets the bits that a scalar would.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from llvmlite import ir

from ..module import ModuleEmitter
from ..types import I1
from ..values import integer
from .coefficients import COEFFICIENTS, CONSTANTS


@dataclass(frozen=True)
class Format:
    """A binary floating-point format of IEEE 754; `fraction` and `bias` are those of its bits."""

    name: str
    scalar: ir.Type
    bits: int
    fraction: int
    bias: int

    @property
    def round_to_integer(self) -> float:
        """Added to a number, it leaves the nearest integer in the last bits of the sum."""
        return 1.5 * 2.0**self.fraction

    @property
    def one(self) -> int:
        """The bits of 1.0."""
        return self.bias << self.fraction

    def coefficients(self, name: str) -> tuple[float, ...]:
        """Those of a polynomial in this format."""
        return COEFFICIENTS[f"{name}.{self.name}"]

    def parts(self, name: str) -> tuple[float, ...]:
        """Numbers of this format whose sum is a constant."""
        return CONSTANTS[f"{name}.{self.name}"]


F32 = Format("f32", ir.FloatType(), 32, 23, 127)
F64 = Format("f64", ir.DoubleType(), 64, 52, 1023)


def type_suffix(form: Format, lanes: int) -> str:
    """How the names of functions end: `f32`, `v8f32`."""
    return f"{f'v{lanes}' if lanes else ''}{form.name}"


@dataclass(frozen=True)
class Place:
    """Where instructions go, and for how many lanes; 0 for a scalar."""

    module: ModuleEmitter
    builder: ir.IRBuilder
    lanes: int

    def kind(self, scalar: ir.Type) -> ir.Type:
        return ir.VectorType(scalar, self.lanes) if self.lanes else scalar

    def intrinsic(self, name: str, arguments: Sequence[ir.Value]) -> ir.Value:
        """Calls an intrinsic whose result has the type of its arguments."""
        kind = arguments[0].type
        signature = ir.FunctionType(kind, [kind] * len(arguments))
        return self.builder.call(self.module.intrinsic(name, [kind], signature), arguments)


Number: TypeAlias = "Real | float"


@dataclass(frozen=True)
class Real:
    """A floating-point number in each lane."""

    place: Place
    format: Format
    value: ir.Value

    def constant(self, number: Number) -> Real:
        """A constant of the same format in every lane; a `Real` as it is."""
        if isinstance(number, Real):
            return number
        kind = self.place.kind(self.format.scalar)
        return self._of(ir.Constant(kind, float(number)))

    def __add__(self, other: Number) -> Real:
        return self._of(self.place.builder.fadd(self.value, self.constant(other).value))

    def __radd__(self, other: float) -> Real:
        return self.constant(other) + self

    def __sub__(self, other: Number) -> Real:
        return self._of(self.place.builder.fsub(self.value, self.constant(other).value))

    def __rsub__(self, other: float) -> Real:
        return self.constant(other) - self

    def __mul__(self, other: Number) -> Real:
        return self._of(self.place.builder.fmul(self.value, self.constant(other).value))

    def __rmul__(self, other: float) -> Real:
        return self.constant(other) * self

    def __truediv__(self, other: Number) -> Real:
        return self._of(self.place.builder.fdiv(self.value, self.constant(other).value))

    def __rtruediv__(self, other: float) -> Real:
        return self.constant(other) / self

    def __neg__(self) -> Real:
        return self._of(self.place.builder.fneg(self.value))

    def __abs__(self) -> Real:
        return self._of(self.place.intrinsic("llvm.fabs", [self.value]))

    def __lt__(self, other: Number) -> Mask:
        return self._compare("<", other)

    def __gt__(self, other: Number) -> Mask:
        return self._compare(">", other)

    def equals(self, other: Number) -> Mask:
        """False for NaN."""
        return self._compare("==", other)

    def _compare(self, relation: str, other: Number) -> Mask:
        left, right = self.value, self.constant(other).value
        return Mask(self.place, self.place.builder.fcmp_ordered(relation, left, right))

    def with_sign_of(self, other: Real) -> Real:
        return self._of(self.place.intrinsic("llvm.copysign", [self.value, other.value]))

    def square_root(self) -> Real:
        return self._of(self.place.intrinsic("llvm.sqrt", [self.value]))

    def truncated(self) -> Real:
        """Rounded towards zero, to an integer."""
        return self._of(self.place.intrinsic("llvm.trunc", [self.value]))

    def clamped(self, low: float, high: float) -> Real:
        """The nearest number in an interval; NaN stays."""
        return where(self > high, high, where(self < low, low, self))

    def converted(self, target: Format) -> Real:
        """Rounded to another format, or exactly the same in a wider one."""
        builder, kind = self.place.builder, self.place.kind(target.scalar)
        convert = builder.fpext if target.bits > self.format.bits else builder.fptrunc
        return Real(self.place, target, convert(self.value, kind))

    @property
    def bits(self) -> Bits:
        kind = self.place.kind(ir.IntType(self.format.bits))
        return Bits(self.place, self.format, self.place.builder.bitcast(self.value, kind))

    def _of(self, value: ir.Value) -> Real:
        return Real(self.place, self.format, value)


@dataclass(frozen=True)
class Bits:
    """The bits of a floating-point number, as an integer, in each lane."""

    place: Place
    format: Format
    value: ir.Value

    def __add__(self, other: Bits | int) -> Bits:
        return self._of(self.place.builder.add(self.value, self._operand(other)))

    def __sub__(self, other: Bits | int) -> Bits:
        return self._of(self.place.builder.sub(self.value, self._operand(other)))

    def __rsub__(self, other: int) -> Bits:
        return self._of(self.place.builder.sub(self._operand(other), self.value))

    def __lshift__(self, count: int) -> Bits:
        return self._of(self.place.builder.shl(self.value, self._operand(count)))

    def __rshift__(self, count: int) -> Bits:
        """With zeros at the top."""
        return self._of(self.place.builder.lshr(self.value, self._operand(count)))

    def __and__(self, other: Bits | int) -> Bits:
        return self._of(self.place.builder.and_(self.value, self._operand(other)))

    def __or__(self, other: Bits | int) -> Bits:
        return self._of(self.place.builder.or_(self.value, self._operand(other)))

    def __xor__(self, other: Bits | int) -> Bits:
        return self._of(self.place.builder.xor(self.value, self._operand(other)))

    def has(self, bit: int) -> Mask:
        """Whether one of the bits is set."""
        masked = (self & (1 << bit)).value
        compared = self.place.builder.icmp_unsigned("!=", masked, self._operand(0))
        return Mask(self.place, compared)

    @property
    def real(self) -> Real:
        kind = self.place.kind(self.format.scalar)
        return Real(self.place, self.format, self.place.builder.bitcast(self.value, kind))

    def _operand(self, other: Bits | int) -> ir.Value:
        return other.value if isinstance(other, Bits) else integer(self.value.type, other)

    def _of(self, value: ir.Value) -> Bits:
        return Bits(self.place, self.format, value)


@dataclass(frozen=True)
class Mask:
    """A condition in each lane."""

    place: Place
    value: ir.Value

    def __and__(self, other: Mask) -> Mask:
        return Mask(self.place, self.place.builder.and_(self.value, other.value))

    def __or__(self, other: Mask) -> Mask:
        return Mask(self.place, self.place.builder.or_(self.value, other.value))

    def __invert__(self) -> Mask:
        return Mask(self.place, self.place.builder.not_(self.value))

    def holds_anywhere(self) -> ir.Value:
        """Whether the condition holds in any lane."""
        if not self.place.lanes:
            return self.value
        signature = ir.FunctionType(I1, [self.value.type])
        reduce = self.place.module.intrinsic("llvm.vector.reduce.or", [self.value.type], signature)
        return self.place.builder.call(reduce, [self.value])


def where(condition: Mask, chosen: Number, other: Number) -> Real:
    """In each lane, the first number where the condition holds, else the second."""
    if isinstance(chosen, Real):
        left, right = chosen, chosen.constant(other)
    else:
        assert isinstance(other, Real), "one of them tells the format"
        left, right = other.constant(chosen), other
    value = left.place.builder.select(condition.value, left.value, right.value)
    return Real(left.place, left.format, value)


def fma(left: Real, right: Number, addend: Number) -> Real:
    """`left * right + addend`, rounded once."""
    operands = [left.value, left.constant(right).value, left.constant(addend).value]
    return Real(left.place, left.format, left.place.intrinsic("llvm.fma", operands))


def polynomial(x: Real, coefficients: Sequence[float]) -> Real:
    """A polynomial, constant term first, in a few long steps (Estrin's scheme).

    Horner's needs one operation less for each doubling, and waits for each: the schedulers of
    processors are too small to begin the next vector meanwhile.
    """
    terms: list[Number] = list(coefficients)
    power = x
    while len(terms) > 1:
        pairs = zip(terms[::2], terms[1::2], strict=False)
        terms = [fma(power, high, low) for low, high in pairs] + terms[len(terms) & ~1 :]
        power = power * power
    return x.constant(terms[0])


def precise_polynomial(x: Real, coefficients: Sequence[float]) -> Real:
    """The same with the last step by Horner's scheme, where the rounding is smaller."""
    first, *others = coefficients
    return fma(x, polynomial(x, others), first)


def two_sum(large: Real, small: Real) -> tuple[Real, Real]:
    """A sum and its rounding error, where the first is larger or zero (Dekker's Fast2Sum)."""
    total = large + small
    return total, small - (total - large)


def any_two_sum(left: Real, right: Number) -> tuple[Real, Real]:
    """A sum and its rounding error, whichever is larger (Knuth's TwoSum)."""
    total = left + right
    share = total - left
    return total, (left - (total - share)) + (left.constant(right) - share)


def two_product(left: Real, right: Number) -> tuple[Real, Real]:
    """A product and its rounding error."""
    product = left * right
    return product, fma(left, right, -product)


Definition: TypeAlias = Callable[..., Real]
"""An elementary function of one or two arguments."""

INFINITY = math.inf
