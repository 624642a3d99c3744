"""Arithmetic on values, with NumPy's rules for types (NEP 50)."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from ..text.affine import Affine, Index, extremum, map_text, quotient
from ..text.emitter import Emitter
from .element_types import ElementType, c64, c128, element_type, f32, f64, i64, promoted, u64
from .float_division import floored
from .source import PythonSource
from .values import (
    Constant,
    Kind,
    Number,
    Scalar,
    Value,
    element_of,
    is_complex,
    is_float,
    is_weak,
    literal,
    type_name,
)

_PYTHON: Any = operator

OPERATORS: dict[type[ast.operator], tuple[str, str, str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", "addf", "addi", _PYTHON.add),
    ast.Sub: ("-", "subf", "subi", _PYTHON.sub),
    ast.Mult: ("*", "mulf", "muli", _PYTHON.mul),
    ast.Div: ("/", "divf", "", _PYTHON.truediv),
    ast.FloorDiv: ("//", "", "floordivsi", _PYTHON.floordiv),
    ast.Mod: ("%", "", "", _PYTHON.mod),
    ast.Pow: ("**", "", "", _PYTHON.pow),
    ast.BitAnd: ("&", "", "andi", _PYTHON.and_),
    ast.BitOr: ("|", "", "ori", _PYTHON.or_),
    ast.BitXor: ("^", "", "xori", _PYTHON.xor),
    ast.LShift: ("<<", "", "shli", _PYTHON.lshift),
    ast.RShift: (">>", "", "shrsi", _PYTHON.rshift),
}
"""Symbol, operation on floats and on integers, and the function of Python."""

_UNSIGNED = {"floordivsi": "divui", "shrsi": "shrui"}

_OF_TRUTHS: dict[type[ast.operator], str] = {
    ast.Add: "ori",
    ast.Sub: "",
    ast.Mult: "andi",
    ast.BitAnd: "andi",
    ast.BitOr: "ori",
    ast.BitXor: "xori",
}
"""Operations on two truth values, for operators that also take one beside a number."""

LARGEST_POWER = 16
"""Integer powers up to this one are written as products."""


LARGEST_INTEGER = 1000
"""Bits of a constant while it is computed; all of them fit floating-point numbers."""


def extremum_name(kind: str, element: ElementType) -> str:
    """The operation of arith for a minimum or maximum that takes a NaN where there is one."""
    if element.is_float:
        return f"{kind}imumf"
    return f"{kind}{'u' if element.is_unsigned else 's'}i"


def index_of(value: Value) -> Index | None:
    """A value as an affine integer."""
    if isinstance(value, Index):
        return value
    return value.index if isinstance(value, Constant) else None


def _known(value: Index) -> int | None:
    """A number, also where it is an extent that is one."""
    affine = value.affine
    return None if affine is None or affine.terms else affine.constant


def _fits_other(value: Value, other: Value) -> bool:
    """Whether a value is an integer of Python that is known and fits the type of the other."""
    if not isinstance(value, Constant) or value.element is not None:
        return False
    return element_of(other).holds(int(value.value))


class Arithmetic:
    """Emits arithmetic."""

    def __init__(self, emitter: Emitter[ast.AST], source: PythonSource) -> None:
        self.emitter = emitter
        self.source = source

    def scalar(self, value: Value, node: ast.AST) -> Scalar:
        """A value in an SSA value, of the type that it has by itself."""
        if isinstance(value, Scalar):
            return value
        element = element_of(value)
        if isinstance(value, Constant):
            self._check_fits(value, element, node)
            name = self.emitter.constant(literal(value.value, element), element.mlir)
            return Scalar(name, element, value.element is None)
        if value.affine is None:
            name = self.emitter.operation(f"affine.{value.kind} {map_text(value.parts)}", node)
        elif value.affine.constant == 0 and [c for _, c in value.affine.terms] == [1]:
            name = self.index_name(value.affine, node)
        else:
            name = self.emitter.operation(f"affine.apply {map_text(value.parts)}", node)
        result = self.emitter.operation(f"arith.index_cast {name} : index to i64", node)
        return Scalar(result, i64, weak=True)

    def index_name(self, affine: Affine, node: ast.AST) -> str:
        """The SSA value of an affine expression, of type `index`."""
        names = affine.names()
        if len(names) == 1 and affine == Affine.of(names[0]):
            return f"%{names[0].text}"
        return self.emitter.operation(f"affine.apply {map_text([affine])}", node)

    def _check_fits(self, value: Constant, element: ElementType, node: ast.AST) -> None:
        if not element.is_float and not value.is_float and not element.holds(int(value.value)):
            raise self.source.error(node, f"{value.value} does not fit {element}")

    def convert(self, value: Value, element: ElementType, node: ast.AST) -> Scalar:
        """A value converted as NumPy does: rounded, truncated or wrapped."""
        if isinstance(value, Constant):
            self._check_fits(value, element, node)
            with np.errstate(all="ignore"):
                number = element.number(value.value)
            return Scalar(self.emitter.constant(literal(number, element), element.mlir), element)
        scalar = self.scalar(value, node)
        source = scalar.element
        if source == element:
            return Scalar(scalar.name, element)
        if source.is_complex or element.is_complex:
            return self._convert_complex(scalar, element, node)
        if element.is_narrow and source.is_narrow:
            scalar = self._extended(scalar, node)
            source = f32
        if element.is_truth:
            zero = Scalar(self.emitter.constant(literal(0, source), source.mlir), source)
            return Scalar(self.compare("ne", scalar, zero, node), element)
        wider = element.width > source.width
        if source.is_float:
            integer = "fptoui" if element.is_unsigned else "fptosi"
            name = ("extf" if wider else "truncf") if element.is_float else integer
        elif source.width == element.width and not element.is_float:
            return Scalar(scalar.name, element)  # the same bits
        else:
            sign = "u" if source.is_unsigned else "s"
            name = f"{sign}itofp" if element.is_float else f"ext{sign}i" if wider else "trunci"
        text = f"arith.{name} {scalar.name} : {source.mlir} to {element.mlir}"
        return Scalar(self.emitter.operation(text, node), element)

    def _convert_complex(self, scalar: Scalar, element: ElementType, node: ast.AST) -> Scalar:
        if not element.is_complex:
            raise self.source.error(
                node,
                f"this is complex, where {element} is expected",
                "write .real or .imag behind it",
            )
        if scalar.element.is_complex:
            parts = [self.part(name, scalar, node) for name in ("re", "im")]
        else:
            zero = self.emitter.constant("0.0", element.part.mlir)
            parts = [scalar, Scalar(zero, element.part)]
        return self.complex_number(parts[0], parts[1], element, node)

    def complex_number(
        self, real: Value, imaginary: Value, element: ElementType, node: ast.AST
    ) -> Scalar:
        """A number of two parts."""
        names = [self.convert(each, element.part, node).name for each in (real, imaginary)]
        text = f"complex.create {', '.join(names)} : {element.mlir}"
        return Scalar(self.emitter.operation(text, node), element)

    def part(self, name: str, number: Scalar, node: ast.AST) -> Scalar:
        """The real number that an operation of the complex dialect gives: `re`, `im`, `abs`."""
        text = f"complex.{name} {number.name} : {number.element.mlir}"
        return Scalar(self.emitter.operation(text, node), number.element.part, number.weak)

    def _extended(self, scalar: Scalar, node: ast.AST) -> Scalar:
        """A number of f16 or bf16 as one of f32."""
        text = f"arith.extf {scalar.name} : {scalar.element.mlir} to f32"
        return Scalar(self.emitter.operation(text, node), f32)

    def stored(self, value: Value, element: ElementType, array: str, place: ast.AST) -> str:
        """The value as an element; raises SourceError where that would lose something."""
        source = element_of(value)
        weak = is_weak(value) and is_float(value) <= element.is_float
        weak = weak and is_complex(value) <= element.is_complex
        if source.is_complex and not element.is_complex:
            raise self.source.error(
                place,
                f"the value is {type_name(value)}, but '{array}' has elements of type {element}",
                "write .real or .imag behind the value",
            )
        if not weak and not element.holds_all(source):
            quotient = isinstance(place, ast.BinOp) and isinstance(place.op, ast.Div)
            floor = "// for /, or " if quotient and not element.is_float else ""
            raise self.source.error(
                place,
                f"the value is {type_name(value)}, but '{array}' has elements of type {element}",
                f"write {floor}{element}(...) around the value",
            )
        return self.convert(value, element, place).name

    def common(self, left: Value, right: Value, node: ast.AST) -> tuple[Scalar, Scalar]:
        """Both operands in the type in which NumPy computes; raises SourceError for mixed types."""
        weak = is_weak(left) and is_weak(right)
        floats = is_float(left), is_float(right)
        complexes = is_complex(left), is_complex(right)
        if weak:
            element = c128 if any(complexes) else f64 if any(floats) else i64
        elif is_weak(left) or is_weak(right):
            strong, other = (right, left) if is_weak(left) else (left, right)
            element = element_of(strong)
            if is_complex(other) and not element.is_complex:
                short = element.is_float and element.width <= f32.width
                element = c64 if short else c128
            elif not element.is_float:
                element = f64 if is_float(other) else i64 if element.is_truth else element
        else:
            element = self._promoted(element_of(left), element_of(right), node)
        # Of `a += b`, the right operand is the value of the statement.
        nodes = getattr(node, "left", node), getattr(node, "right", getattr(node, "value", node))
        pair = self.convert(left, element, nodes[0]), self.convert(right, element, nodes[1])
        return (
            Scalar(pair[0].name, element, weak),
            Scalar(pair[1].name, element, weak),
        )

    def _promoted(self, one: ElementType, other: ElementType, node: ast.AST) -> ElementType:
        """The type in which NumPy computes with two types."""
        computed = promoted(one, other)
        if computed is None:
            raise self.source.error(
                node,
                f"operands of types {one} and {other}: NumPy computes this in another type",
                "write f64(...) around one of them",
            )
        return computed

    def binary(self, kind: type[ast.operator], left: Value, right: Value, node: ast.AST) -> Value:
        """The result of a binary operator."""
        if kind not in OPERATORS:
            raise self.source.error(node, "this operator is not supported")
        symbol, on_floats, on_integers, function = OPERATORS[kind]
        if isinstance(left, Constant) and isinstance(right, Constant):
            return self.fold(function, (left, right), node)
        truths = element_of(left).is_truth, element_of(right).is_truth
        if any(truths) and (kind not in _OF_TRUTHS or (kind is ast.Sub and all(truths))):
            raise self.source.error(
                node, f"'{symbol}' of truth values", "write i64(...) around them"
            )
        index = self._affine(kind, left, right)
        if index is not None:
            return index
        if kind is ast.Mult and index_of(left) is not None and index_of(right) is not None:
            self.emitter.require_operations(
                node,
                "this multiplies two variables",
                "one factor must be a constant; give the array two dimensions",
            )
        if kind is ast.Div:
            self.emitter.require_operations(
                node, "'/' gives a floating-point number", "write // for the floor of the quotient"
            )
        if kind is ast.Pow:
            return self._power(left, right, node)
        if kind is ast.Div:
            return self._divide(left, right, node)
        one, other = self.common(left, right, node)
        element = one.element
        if element.is_complex and not on_floats:
            raise self.source.error(node, f"'{symbol}' on complex numbers")
        if element.is_float and kind in (ast.Mod, ast.FloorDiv) and not element.is_narrow:
            return floored(self, one, other, node, remainder=kind is ast.Mod)
        if element.is_float and not on_floats:
            raise self.source.error(
                node, f"'{symbol}' on numbers of type {element}", "write f32(...) around them"
            )
        if kind is ast.Mod:
            return self._remainder(one, other, right, node)
        if element.is_truth:
            on_integers = _OF_TRUTHS[kind]
        elif element.is_unsigned:
            on_integers = _UNSIGNED.get(on_integers, on_integers)
        return self.operation(on_floats if element.is_float else on_integers, one, other, node)

    def operation(self, name: str, one: Scalar, other: Scalar, node: ast.AST) -> Scalar:
        """An operation of arith on two operands of one type, or that of complex numbers."""
        operation = f"complex.{name[:-1]}" if one.element.is_complex else f"arith.{name}"
        text = f"{operation} {one.name}, {other.name} : {one.element.mlir}"
        return Scalar(self.emitter.operation(text, node), one.element, one.weak)

    def fold(
        self, function: Callable[..., Any], operands: tuple[Constant, ...], node: ast.AST
    ) -> Constant:
        """What Python computes of constants."""
        try:
            with np.errstate(all="ignore"):
                result = function(*(operand.value for operand in operands))
        except (ArithmeticError, ValueError, TypeError) as error:
            raise self.source.error(node, f"this constant cannot be computed: {error}") from None
        return self.constant(result, node)

    def constant(self, value: object, node: ast.AST) -> Constant:
        """A number of Python or NumPy as a constant."""
        if type(value) is int and value.bit_length() > LARGEST_INTEGER:
            raise self.source.error(node, "this integer is too large")
        if type(value) in (int, float, complex) or element_type(type(value)) is not None:
            return Constant(cast(Number, value))
        raise self.source.error(
            node, f"constants of type {type(value).__name__} are not supported", "write a number"
        )

    def _affine(self, kind: type[ast.operator], left: Value, right: Value) -> Index | None:
        """The result where it is affine again."""
        one, other = index_of(left), index_of(right)
        if one is None or other is None or not (is_weak(left) and is_weak(right)):
            return None
        if kind is ast.Add:
            return one.plus(other)
        if kind is ast.Sub:
            return one.plus(other, -1)
        constant = _known(other)
        if kind is ast.Mult:
            factor = _known(one)
            if factor is not None:
                return other.times(factor)
            return None if constant is None else one.times(constant)
        affine = one.affine
        if affine is None or constant is None or constant <= 0:
            return None
        if kind is ast.FloorDiv:
            return Index((quotient("floordiv", affine, constant),))
        return Index((quotient("mod", affine, constant),)) if kind is ast.Mod else None

    def _divide(self, left: Value, right: Value, node: ast.AST) -> Value:
        if not is_float(left) and not is_float(right):
            one, other = self.common(left, right, node)
            weak = one.weak
            left = Scalar(self.convert(one, f64, node).name, f64, weak)
            right = Scalar(self.convert(other, f64, node).name, f64, weak)
        return self.operation("divf", *self.common(left, right, node), node)

    def _remainder(self, one: Scalar, other: Scalar, right: Value, node: ast.AST) -> Scalar:
        """The remainder of the floor division; 0 for a divisor of 0, as in NumPy."""
        if one.element.is_unsigned:
            return self.operation("remui", one, other, node)
        product = self.operation(
            "muli", self.operation("floordivsi", one, other, node), other, node
        )
        rest = self.operation("subi", one, product, node)
        if isinstance(right, Constant) and right.value != 0:
            return rest
        zero = Scalar(self.emitter.constant("0", one.element.mlir), one.element)
        return self.select(self.compare("ne", other, zero, node), rest, zero, node)

    def _power(self, left: Value, right: Value, node: ast.AST) -> Value:
        exponent = right.value if isinstance(right, Constant) else None
        if exponent == 2 and is_weak(right) and not is_float(right):
            return self.binary(ast.Mult, left, left, node)
        if is_complex(left) or is_complex(right):
            raise self.source.error(
                node, "a power of a complex number", "write its square as z * z, or z ** 2"
            )
        if is_float(left) or is_float(right):
            one, other = self.common(left, right, node)
            text = f"math.powf {one.name}, {other.name} : {one.element.mlir}"
            return Scalar(self.emitter.operation(text, node), one.element, one.weak)
        if not isinstance(exponent, int) or not 0 < exponent <= LARGEST_POWER:
            raise self.source.error(
                node,
                "an integer power needs a constant exponent from 1 to 16",
                "write f64(a) ** b for a floating-point power",
            )
        result = left
        for _ in range(exponent - 1):
            result = self.binary(ast.Mult, result, left, node)
        return result

    def check_no_order(self, predicate: str, node: ast.AST) -> None:
        """Raises SourceError where a comparison of complex numbers asks for their order."""
        if predicate not in ("eq", "ne"):
            raise self.source.error(
                node, "complex numbers have no order", "compare abs(z), z.real or z.imag"
            )

    def compare(self, predicate: str, one: Scalar, other: Scalar, node: ast.AST) -> str:
        """A comparison of two operands of one type: the name of the truth value."""
        if one.element.is_complex:
            self.check_no_order(predicate, node)
            name = "eq" if predicate == "eq" else "neq"
            text = f"complex.{name} {one.name}, {other.name} : {one.element.mlir}"
            return self.emitter.operation(text, node)
        if one.element.is_float:
            name = f"cmpf {'une' if predicate == 'ne' else f'o{predicate}'}"
        else:
            sign = "u" if one.element.is_unsigned else "s"
            name = f"cmpi {predicate if predicate in ('eq', 'ne') else sign + predicate}"
        text = f"arith.{name}, {one.name}, {other.name} : {one.element.mlir}"
        return self.emitter.operation(text, node)

    def test(self, predicate: str, left: Value, right: Value, node: ast.AST) -> str:
        """A comparison as NumPy makes it, where integers of all types are compared exactly."""
        elements = element_of(left), element_of(right)
        floats = any(element.is_float for element in elements)
        if not floats and not _fits_other(left, right) and not _fits_other(right, left):
            # NumPy has no type for both, or an `int` would be wrapped to the type of the other.
            if u64 in elements and not all(element.is_unsigned for element in elements):
                return self._compare_signs(predicate, left, right, node)
            if is_weak(left) != is_weak(right):
                one, other = (self.convert(value, i64, node) for value in (left, right))
                return self.compare(predicate, one, other, node)
        return self.compare(predicate, *self.common(left, right, node), node)

    def _compare_signs(self, predicate: str, left: Value, right: Value, node: ast.AST) -> str:
        """A comparison of a u64 and a signed integer, which is less where it is negative."""
        swapped = element_of(left) != u64
        signed = self.convert(left if swapped else right, i64, node)
        unsigned = self.convert(right if swapped else left, u64, node)
        same_bits = self.convert(signed, u64, node)
        zero = Scalar(self.emitter.constant("0", i64.mlir), i64)
        pair = (same_bits, unsigned) if swapped else (unsigned, same_bits)
        bits = self.compare(predicate, *pair, node)
        holds = predicate == "ne" or predicate[0] == ("l" if swapped else "g")
        sign = self.compare("lt" if holds else "ge", signed, zero, node)
        return self.emitter.operation(
            f"arith.{'ori' if holds else 'andi'} {sign}, {bits} : i1", node
        )

    def select(self, truth: str, one: Scalar, other: Scalar, node: ast.AST) -> Scalar:
        """One of two operands of one type."""
        text = f"arith.select {truth}, {one.name}, {other.name} : {one.element.mlir}"
        weak = one.weak and other.weak
        return Scalar(self.emitter.operation(text, node), one.element, weak)

    def negate(self, value: Value, node: ast.AST) -> Value:
        """The negative of a value."""
        if isinstance(value, Constant):
            return self.fold(operator.neg, (value,), node)
        if isinstance(value, Index):
            return value.times(-1)
        if value.element.is_truth:
            raise self.source.error(node, "'-' of a truth value", "write not, or ~ for an array")
        if value.element.is_float:
            operation = "complex.neg" if value.element.is_complex else "arith.negf"
            text = f"{operation} {value.name} : {value.element.mlir}"
            return Scalar(self.emitter.operation(text, node), value.element, value.weak)
        zero = Scalar(self.emitter.constant("0", value.element.mlir), value.element, value.weak)
        return self.operation("subi", zero, value, node)

    def first(self, kind: str, left: Value, right: Value, node: ast.AST) -> Value:
        """Python's `min` and `max`: the first operand, unless the second is beyond it."""
        one, other = index_of(left), index_of(right)
        if one is not None and other is not None and is_weak(left) and is_weak(right):
            index = extremum(kind, (one, other))
            if index is not None:
                return index
        joined = self.joined(left, right, node)  # the result is one of them as it is
        a, b = (
            Scalar(self.convert(value, joined.element, node).name, joined.element, joined.weak)
            for value in (left, right)
        )
        if not a.element.is_float:
            return self.operation(extremum_name(kind, a.element), a, b, node)
        truth = self.compare("lt" if kind == "min" else "gt", b, a, node)
        return self.select(truth, b, a, node)

    def joined(self, one: Value, other: Value, node: ast.AST) -> Kind:
        """The type of a value that is one of two; raises SourceError."""
        kinds = Kind.of(one), Kind.of(other)
        kind = kinds[0].join(kinds[1])
        if kind is None:
            strong = next(
                (k for k, v in zip(kinds, (one, other), strict=True) if not is_weak(v)), None
            )
            raise self.source.error(
                node,
                f"this may be {kinds[0]} or {kinds[1]}",
                f"write {strong.element if strong else 'float'}(...) around the other one",
            )
        return kind
