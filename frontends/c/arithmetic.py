"""Arithmetic on values, as C defines it: types, wrapping, truncating division."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ...dialects.errors import SourceError
from ...dialects.marks import FULL_RANGE
from ..text.affine import Affine, Index, Name, Quotient, extremum, map_text, quotient
from ..text.emitter import Emitter
from .c_types import BOOL, FLOAT, LONG, ComplexType, FloatType, IntegerType, NumberType
from .domain import Domain
from .tree import Binary, Piece, bare
from .values import LARGEST, Constant, Linear, Scalar, Value, index_of, literal, parts_of, rounded

_ANY: Any = operator

_ON_COMPLEX = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
_ON_FLOATS = {"+": "addf", "-": "subf", "*": "mulf", "/": "divf"}
_ON_INTEGERS = {
    "+": ("addi", "addi"),
    "-": ("subi", "subi"),
    "*": ("muli", "muli"),
    "/": ("divsi", "divui"),
    "%": ("remsi", "remui"),
    "&": ("andi", "andi"),
    "|": ("ori", "ori"),
    "^": ("xori", "xori"),
    "<<": ("shli", "shli"),
    ">>": ("shrsi", "shrui"),
}
"""On signed and on unsigned integers."""

_FOLDED: dict[str, Callable[[Any, Any], Any]] = {
    "+": _ANY.add,
    "-": _ANY.sub,
    "*": _ANY.mul,
    "&": _ANY.and_,
    "|": _ANY.or_,
    "^": _ANY.xor,
    "<<": _ANY.lshift,
    ">>": _ANY.rshift,
}

PREDICATES = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}

SWAPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


class Arithmetic:
    """Emits arithmetic; affine integers stay affine where the result lies in its type.

    With `recovers_infinities`, products and quotients of complex numbers are those of Annex G.
    """

    def __init__(
        self, emitter: Emitter[Piece], domain: Domain, recovers_infinities: bool = True
    ) -> None:
        self.emitter = emitter
        self.domain = domain
        self.recovers_infinities = recovers_infinities

    # Values

    def scalar(self, value: Value, node: Piece) -> Scalar:
        """A value in an SSA value."""
        if isinstance(value, Scalar):
            return value
        if isinstance(value, Constant):
            text = literal(value.value, value.type)
            return Scalar(self.emitter.constant(text, value.type.mlir), value.type)
        index, affine = value.index, value.index.affine
        names = affine.names() if affine is not None else []
        if affine is not None and len(names) == 1 and affine == Affine.of(names[0]):
            name = f"%{names[0].text}"
        elif value.type.width == 64 and not self.domain.is_long(index):
            return Scalar(self._wrapping(index, value.type, node), value.type)
        else:
            word = "apply" if affine is not None else index.kind
            name = self.emitter.operation(f"affine.{word} {map_text(index.parts)}", node)
        text = f"arith.index_cast {name} : index to {value.type.mlir}"
        return Scalar(self.emitter.operation(text, node), value.type)

    def _wrapping(self, index: Index, kind: IntegerType, node: Piece) -> str:
        """An integer that may overflow, which an affine map must not: in operations that wrap."""
        results = [self._wrapping_sum(part, kind, node) for part in index.parts]
        name = results[0]
        for other in results[1:]:
            text = f"arith.{index.kind}si {name}, {other} : {kind.mlir}"
            name = self.emitter.operation(text, node)
        return name

    def _wrapping_sum(self, affine: Affine, kind: IntegerType, node: Piece) -> str:
        def emit(name: str, one: str, other: str) -> str:
            return self.emitter.operation(f"arith.{name} {one}, {other} : {kind.mlir}", node)

        total = self.emitter.constant(str(LONG.wrap(affine.constant)), kind.mlir)
        for term, factor in affine.terms:
            name = f"%{term.text}" if isinstance(term, Name) else self._quotient(term, node)
            text = f"arith.index_cast {name} : index to {kind.mlir}"
            product = self.emitter.operation(text, node)
            if abs(factor) != 1:
                size = self.emitter.constant(str(LONG.wrap(abs(factor))), kind.mlir)
                product = emit("muli", product, size)
            total = emit("addi" if factor > 0 else "subi", total, product)
        return total

    def _quotient(self, term: Quotient, node: Piece) -> str:
        return self.emitter.operation(f"affine.apply {map_text([Affine.of(term)])}", node)

    def convert(self, value: Value, kind: NumberType, node: Piece) -> Value:
        """A value converted to a type; raises SourceError for what C leaves open."""
        if value.type == kind:
            return value
        if isinstance(value, Constant):
            try:
                return Constant(rounded(value.value, kind), kind)
            except (OverflowError, ValueError):
                raise self._error(node, f"{value.value} does not fit '{kind}'") from None
        if isinstance(value, Linear) and isinstance(kind, IntegerType) and kind != BOOL:
            if kind.has_all_of(value.type) or self._fits(value.index, kind):
                return Linear(value.index, kind)
            self.emitter.require_operations(
                node, f"'{kind}' may not hold the value of this '{value.type}'"
            )
        scalar = self.scalar(value, node)
        return Scalar(self._converted(scalar, kind, node), kind)

    def _fits(self, index: Index, kind: IntegerType) -> bool:
        return self.domain.in_type(index, kind, assume=self.emitter.is_affine_only)

    def _converted(self, scalar: Scalar, kind: NumberType, node: Piece) -> str:
        source = scalar.type
        if isinstance(source, ComplexType) and kind != BOOL and not isinstance(kind, ComplexType):
            real = self.convert(self.part("re", scalar, node), kind, node)
            return self.scalar(real, node).name
        if kind == BOOL:
            zero = self.scalar(
                Constant(0 if isinstance(source, IntegerType) else 0.0, source), node
            )
            return self.compare("!=", scalar, zero, node)
        if isinstance(kind, ComplexType):
            real, imaginary = (self.part(name, scalar, node) for name in ("re", "im"))
            return self.complex_number(real, imaginary, kind, node).name
        if isinstance(source, IntegerType) and isinstance(kind, IntegerType):
            if source.width == kind.width:
                return scalar.name  # the same bits
            longer = "extsi" if source.signed else "extui"
            name = longer if source.width < kind.width else "trunci"
        elif isinstance(source, FloatType) and isinstance(kind, FloatType):
            if source.width == kind.width:  # _Float16 and __bf16
                scalar = Scalar(self._converted(scalar, FLOAT, node), FLOAT)
                source = FLOAT
            name = "extf" if source.width < kind.width else "truncf"
        elif isinstance(kind, IntegerType):
            name = "fptosi" if kind.signed else "fptoui"
        else:
            assert isinstance(source, IntegerType)
            name = "sitofp" if source.signed else "uitofp"
        text = f"arith.{name} {scalar.name} : {source.mlir} to {kind.mlir}"
        return self.emitter.operation(text, node)

    # Complex numbers

    def part(self, name: str, number: Value, node: Piece) -> Value:
        """The real or the imaginary part (`re`, `im`) of a number, which may be a real one."""
        if isinstance(number, Constant):
            value = parts_of(number.value)[0 if name == "re" else 1]
            kind = number.type.part if isinstance(number.type, ComplexType) else number.type
            return Constant(value, kind)
        if isinstance(number, Scalar) and isinstance(number.type, ComplexType):
            text = f"complex.{name} {number.name} : {number.type.mlir}"
            return Scalar(self.emitter.operation(text, node), number.type.part)
        return number if name == "re" else Constant(0, number.type)

    def complex_number(
        self, real: Value, imaginary: Value, kind: ComplexType, node: Piece
    ) -> Scalar:
        """The number with these parts."""
        parts = [self.convert(each, kind.part, node) for each in (real, imaginary)]
        names = ", ".join(self.scalar(each, node).name for each in parts)
        text = f"complex.create {names} : {kind.mlir}"
        return Scalar(self.emitter.operation(text, node), kind)

    def _complex_binary(
        self, symbol: str, left: Value, right: Value, kind: ComplexType, node: Piece
    ) -> Scalar:
        """A real operand has no imaginary part, not one of zero: `x (a + bi)` is `xa + xbi`."""
        one, other = (
            self.convert(each, kind if isinstance(each.type, ComplexType) else kind.part, node)
            for each in (left, right)
        )
        if isinstance(other.type, ComplexType) and (one.type == kind or symbol == "/"):
            operands = (self.convert(each, kind, node) for each in (one, other))
            names = ", ".join(self.scalar(each, node).name for each in operands)
            mark = f" {{{FULL_RANGE}}}" if symbol in "*/" and self.recovers_infinities else ""
            text = f"complex.{_ON_COMPLEX[symbol]} {names}{mark} : {kind.mlir}"
            return Scalar(self.emitter.operation(text, node), kind)
        (a, b), (c, d) = (
            [self.part(name, each, node) for name in ("re", "im")] for each in (one, other)
        )
        real = self.binary(symbol, a, c, kind.part, node)
        if symbol in "*/":
            pair = (b, c) if one.type == kind else (a, d)
            imaginary = self.binary(symbol, *pair, kind.part, node)
        elif one.type == kind:
            imaginary = b
        else:
            imaginary = d if symbol == "+" else self.negate(d, node)
        return self.complex_number(real, imaginary, kind, node)

    # Operators

    def binary(
        self, symbol: str, left: Value, right: Value, kind: NumberType, node: Piece
    ) -> Value:
        """The result of an operator on operands that C has converted to `kind`.

        The right operand of a shift has a type of its own.
        """
        if isinstance(kind, ComplexType):
            return self._complex_binary(symbol, left, right, kind, node)
        if isinstance(left, Constant) and isinstance(right, Constant):
            folded = self._fold(symbol, left, right, kind)
            if folded is not None:
                return folded
        if isinstance(kind, IntegerType):
            index = _bounded(self._affine(symbol, left, right, kind))
            if index is not None and (kind.signed or self._fits(index, kind)):
                return linear(index, kind)
            self._explain(symbol, left, right, index, node)
        one = self.scalar(left, node)
        other = self.scalar(self.convert(right, kind, node), node)
        if isinstance(kind, FloatType):
            name = _ON_FLOATS[symbol]
        else:
            name = _ON_INTEGERS[symbol][0 if kind.signed else 1]
        text = f"arith.{name} {one.name}, {other.name} : {kind.mlir}"
        return Scalar(self.emitter.operation(text, node), kind)

    def _explain(
        self, symbol: str, left: Value, right: Value, index: Index | None, node: Piece
    ) -> None:
        """Raises NotAffine where an affine integer is needed."""
        affine = index_of(left) is not None and index_of(right) is not None
        if index is not None:
            self.emitter.require_operations(
                node, "this unsigned value may wrap around", "compute it with signed integers"
            )
        elif symbol == "*" and affine:
            hint = "one factor must be a constant; give the array two dimensions"
            sides = (bare(node.left), bare(node.right)) if isinstance(node, Binary) else ()
            if any(isinstance(each, Binary) and each.operator in "/>>" for each in sides):
                hint = "give the quotient a name of its own: int m = n / 2;"
            self.emitter.require_operations(node, "this multiplies two variables", hint)
        elif symbol in "/%" and affine:
            positive = isinstance(right, Constant) and right.value.real > 0
            self.emitter.require_operations(
                node,
                f"the left operand of '{symbol}' may be negative, and C rounds towards zero"
                if positive
                else f"'{symbol}' needs a positive constant on its right",
            )
        else:
            self.emitter.require_operations(node, f"'{symbol}' is not affine here")

    def _fold(
        self, symbol: str, left: Constant, right: Constant, kind: NumberType
    ) -> Constant | None:
        """What C computes of constants; None where it is left to the run."""
        one, other = left.value.real, right.value.real
        if isinstance(kind, FloatType):
            if symbol == "/":
                result = one / other if other != 0 else None
            else:
                result = _FOLDED[symbol](one, other)
            return None if result is None else Constant(rounded(result, kind), kind)
        if symbol in "/%":
            if other == 0:
                return None
            whole = abs(int(one)) // abs(int(other)) * (1 if (one < 0) == (other < 0) else -1)
            result = whole if symbol == "/" else int(one) - whole * int(other)
        elif symbol in ("<<", ">>") and not 0 <= other < kind.width:
            return None
        else:
            result = _FOLDED[symbol](one, other)
        assert isinstance(kind, IntegerType)
        return Constant(kind.wrap(int(result)), kind)

    def _affine(self, symbol: str, left: Value, right: Value, kind: IntegerType) -> Index | None:
        """The result where it is affine, if it does not wrap around."""
        one, other = index_of(left), index_of(right)
        if one is None or other is None:
            return None
        if symbol in "+-":
            return one.plus(other, 1 if symbol == "+" else -1)
        first = left.value.real if isinstance(left, Constant) else None
        constant = right.value.real if isinstance(right, Constant) else None
        if symbol == "*" and first is not None:
            return other.times(int(first))
        if constant is None:
            return None
        number = int(constant)
        if symbol == "*":
            return one.times(number)
        if symbol == "<<" and 0 <= number < kind.width:
            return one.times(1 << number)
        affine = one.affine
        if affine is None:
            return None
        if symbol == ">>" and 0 <= number < min(kind.width, 63):  # rounds down
            return Index((quotient("floordiv", affine, 1 << number),))
        if symbol == "&":
            return _masked(affine, number, kind)
        if symbol in "/%" and number > 0:
            if not self.domain.holds(affine, assume=self.emitter.is_affine_only):
                return None
            word = "floordiv" if symbol == "/" else "mod"
            return Index((quotient(word, affine, number),))
        return None

    def negate(self, value: Value, node: Piece) -> Value:
        """`-x`."""
        if isinstance(value.type, IntegerType):
            return self.binary("-", Constant(0, value.type), value, value.type, node)
        if isinstance(value, Constant):
            return Constant(-value.value, value.type)
        scalar = self.scalar(value, node)
        operation = "complex.neg" if isinstance(value.type, ComplexType) else "arith.negf"
        text = f"{operation} {scalar.name} : {value.type.mlir}"
        return Scalar(self.emitter.operation(text, node), value.type)

    def complement(self, value: Value, node: Piece) -> Value:
        """`~x`, which is the conjugate of a complex number."""
        if isinstance(value.type, ComplexType):
            number = self.scalar(value, node)
            text = f"complex.conj {number.name} : {number.type.mlir}"
            return Scalar(self.emitter.operation(text, node), number.type)
        assert isinstance(value.type, IntegerType)
        ones = Constant(value.type.wrap(-1), value.type)
        if value.type.signed:  # -1 - x
            return self.binary("-", ones, value, value.type, node)
        return self.binary("^", value, ones, value.type, node)

    def compare(self, symbol: str, one: Scalar, other: Scalar, node: Piece) -> str:
        """A comparison of two operands of one type: the name of the truth value.

        A real operand may be compared with a complex one.
        """
        predicate = PREDICATES[symbol]
        for kind in (one.type, other.type):
            if isinstance(kind, ComplexType):
                operands = (
                    self.scalar(self.convert(each, kind, node), node) for each in (one, other)
                )
                names = ", ".join(each.name for each in operands)
                name = "eq" if predicate == "eq" else "neq"
                return self.emitter.operation(f"complex.{name} {names} : {kind.mlir}", node)
        if isinstance(one.type, FloatType):
            name = f"cmpf {'une' if predicate == 'ne' else f'o{predicate}'}"
        elif predicate in ("eq", "ne"):
            name = f"cmpi {predicate}"
        else:
            assert isinstance(one.type, IntegerType)
            name = f"cmpi {'s' if one.type.signed else 'u'}{predicate}"
        text = f"arith.{name}, {one.name}, {other.name} : {one.type.mlir}"
        return self.emitter.operation(text, node)

    def select(self, truth: str, one: Value, other: Value, kind: NumberType, node: Piece) -> Scalar:
        """One of two operands of one type."""
        first, second = self.scalar(one, node), self.scalar(other, node)
        text = f"arith.select {truth}, {first.name}, {second.name} : {kind.mlir}"
        return Scalar(self.emitter.operation(text, node), kind)

    def extremum(
        self, word: str, one: Value, other: Value, kind: IntegerType, node: Piece
    ) -> Value:
        """The minimum or maximum (`word`) of two integers of one type."""
        first, second = index_of(one), index_of(other)
        if first is not None and second is not None:
            index = extremum(word, (first, second))
            if index is not None:
                return linear(index, kind)
            self.emitter.require_operations(node, "a minimum of a maximum is not")
        a, b = self.scalar(one, node), self.scalar(other, node)
        text = f"arith.{word}{'s' if kind.signed else 'u'}i {a.name}, {b.name} : {kind.mlir}"
        return Scalar(self.emitter.operation(text, node), kind)

    def _error(self, node: Piece, message: str, hint: str | None = None) -> SourceError:
        return SourceError(message, node.place, hint)


def _bounded(index: Index | None) -> Index | None:
    """An affine integer whose constants fit into the text."""
    numbers = (
        [n for part in index.parts for n in (part.constant, *dict(part.terms).values())]
        if (index is not None)
        else []
    )
    return index if all(abs(number) < LARGEST for number in numbers) else None


def linear(index: Index, kind: IntegerType) -> Value:
    """An affine integer, or the constant that it is."""
    affine = index.affine
    if affine is not None and not affine.terms:
        return Constant(kind.wrap(affine.constant), kind)
    return Linear(index, kind)


def _masked(affine: Affine, mask: int, kind: IntegerType) -> Index | None:
    """`x & mask` of two's complement: with 2^k - 1 the remainder, with -2^k what is below it."""
    if mask > 0 and mask & (mask + 1) == 0 and mask.bit_length() < 63:
        return Index((quotient("mod", affine, mask + 1),))
    signed = IntegerType("", kind.width, signed=True).wrap(mask)
    size = -signed
    if signed < 0 and size & (size - 1) == 0 and size.bit_length() < 63:
        return Index((affine.plus(quotient("mod", affine, size), -1),))
    return None
