"""Calls: functions of the C library, and functions that are one expression."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

from ...dialects.errors import SourceError
from ...runtime.jit.registered_functions import is_library_function
from .c_types import (
    INT,
    LONG,
    UNSIGNED,
    ComplexType,
    FloatType,
    IntegerType,
    NumberType,
    PointerType,
)
from .evaluator import Evaluator
from .functions import (
    ABSOLUTE,
    BITS,
    COMPLEX_NUMBER,
    OF_COMPLEX,
    PARTS,
    SIGN,
    TO_INTEGER,
    Known,
    constant,
    known,
)
from .numbers import number_type
from .tree import Call, Name, Symbol, walk
from .values import Constant, Scalar, Value

_PASSED = ("f32", "f64", "i32", "i64")


class Calls:
    """Evaluates calls."""

    def __init__(self, expressions: Evaluator) -> None:
        self.expressions = expressions
        self.emitter = expressions.emitter

    def value(self, node: Call) -> Value:
        """The result of a call; raises SourceError, NotAffine."""
        if node.inlined is not None:
            return self._inline(node)
        number = constant(node.function)
        if number is not None and isinstance(node.type, FloatType):
            return Constant(number, node.type)
        if node.function.removeprefix("__builtin_") in ABSOLUTE and len(node.arguments) == 1:
            return self._absolute(node)
        rounding = TO_INTEGER.get(node.function.removeprefix("__builtin_"))
        if rounding is not None and len(node.arguments) == 1:
            return self._to_integer(node, rounding)
        if node.function == "__builtin_expect" and node.arguments:
            return self.expressions.value(node.arguments[0])
        if node.function in BITS and len(node.arguments) == 1:
            return self._bits(node)
        if node.function == COMPLEX_NUMBER and isinstance(node.type, ComplexType):
            real, imaginary = map(self.expressions.value, node.arguments)
            return self.expressions.arithmetic.complex_number(real, imaginary, node.type, node)
        operation = OF_COMPLEX.get(node.function.removeprefix("__builtin_"))
        if operation is not None and len(node.arguments) == 1:
            return self._of_complex(node, operation)
        function = known(node.function)
        if function is None and (node.is_pure or is_library_function(node.function)):
            return self._external(node)
        if function is None or len(node.arguments) != function.arguments:
            raise _unknown(node)
        self.emitter.require_operations(node, f"it calls '{node.function}'")
        if function.is_test:
            truth = self.test(node, function)
            one, other = Constant(1, INT), Constant(0, INT)
            return self.expressions.arithmetic.select(truth, one, other, INT, node)
        if not isinstance(node.type, FloatType):
            raise _unknown(node)
        names = [self._argument(node, n, node.type) for n in range(function.arguments)]
        text = f"{function.operation} {', '.join(names)} : {node.type.mlir}"
        return Scalar(self.emitter.operation(text, node), node.type)

    def _external(self, node: Call) -> Value:
        """A function that is declared with `__attribute__((const))`."""
        self.emitter.require_operations(node, f"it calls '{node.function}'")
        kinds = [each.type for each in node.arguments]
        for each in (*kinds, node.type):
            if not isinstance(each, FloatType | IntegerType) or each.mlir not in _PASSED:
                raise SourceError(
                    f"'{node.function}' is declared const: it must take numbers and give one",
                    node.place,
                    "numbers are float, double, and integers of 32 and 64 bits",
                )
        result = number_type(node)
        names = [
            self._argument(node, n, number_type(each)) for n, each in enumerate(node.arguments)
        ]
        types = ", ".join(number_type(each).mlir for each in node.arguments)
        call = f'math.external "{node.function}"({", ".join(names)})'
        return Scalar(self.emitter.operation(f"{call} : ({types}) -> {result.mlir}", node), result)

    def _argument(self, node: Call, position: int, kind: NumberType) -> str:
        argument = node.arguments[position]
        value = self.expressions.converted(argument, kind)
        return self.expressions.arithmetic.scalar(value, argument).name

    def test(self, node: Call, function: Known) -> str:
        """The truth value of `isnan(x)` and its kin."""
        (argument,) = node.arguments
        scalar = self.expressions.arithmetic.scalar(self.expressions.value(argument), argument)
        arithmetic = self.expressions.arithmetic
        if function.operation == SIGN:
            zero, one = (arithmetic.scalar(Constant(n, scalar.type), node) for n in (0.0, 1.0))
            text = f"math.copysign {one.name}, {scalar.name} : {scalar.type.mlir}"
            signed = Scalar(self.emitter.operation(text, node), scalar.type)
            return arithmetic.compare("<", signed, zero, node)
        text = f"{function.operation} {scalar.name} : {scalar.type.mlir}"
        return self.emitter.operation(text, node)

    def _absolute(self, node: Call) -> Value:
        kind = node.type
        if not isinstance(kind, IntegerType):
            raise _unknown(node)
        self.emitter.require_operations(node, "an absolute value is not")
        value = self.expressions.converted(node.arguments[0], kind)
        name = self.expressions.arithmetic.scalar(value, node).name
        return Scalar(self.emitter.operation(f"math.absi {name} : {kind.mlir}", node), kind)

    def _to_integer(self, node: Call, rounding: str) -> Value:
        """The nearest integer to a number; as in C, of none that its type does not hold."""
        self.emitter.require_operations(node, f"it calls '{node.function}'")
        kind = number_type(node.arguments[0])
        if not isinstance(kind, FloatType):
            raise _unknown(node)
        text = f"{rounding} {self._argument(node, 0, kind)} : {kind.mlir}"
        rounded = Scalar(self.emitter.operation(text, node), kind)
        return self.expressions.arithmetic.convert(rounded, number_type(node), node)

    def _of_complex(self, node: Call, operation: str) -> Value:
        kind, result = number_type(node.arguments[0]), number_type(node)
        if not isinstance(kind, ComplexType):
            raise _unknown(node)
        self.emitter.require_operations(node, f"it calls '{node.function}'")
        arithmetic = self.expressions.arithmetic
        value = self.expressions.value(node.arguments[0])
        if operation in PARTS.values():
            return arithmetic.part(operation, value, node)
        text = f"complex.{operation} {arithmetic.scalar(value, node).name} : {kind.mlir}"
        return Scalar(self.emitter.operation(text, node), result)

    def _bits(self, node: Call) -> Value:
        operation, width = BITS[node.function]
        self.emitter.require_operations(node, f"it calls '{node.function}'")
        kind = UNSIGNED if width == 32 else replace(LONG, name="unsigned long", signed=False)
        text = f"{operation} {self._argument(node, 0, kind)} : {kind.mlir}"
        found = Scalar(self.emitter.operation(text, node), kind)
        return self.expressions.arithmetic.convert(found, number_type(node), node)

    def _inline(self, node: Call) -> Value:
        """The value of a function that is an expression over its parameters and variables."""
        assert node.inlined is not None
        values: list[tuple[Symbol, Value]] = []
        for symbol, argument in zip(node.parameters, node.arguments, strict=True):
            if not isinstance(symbol.type, NumberType):
                kind = "pointer" if isinstance(symbol.type, PointerType) else "structure"
                raise SourceError(
                    f"'{node.function}' takes the {kind} '{symbol.name}'",
                    node.place,
                    "write its formula here",
                )
            values.append((symbol, self.expressions.converted(argument, symbol.type)))
        own = {*node.parameters, *(symbol for symbol, _ in node.variables)}
        read = (node.inlined, *(value for _, value in node.variables))
        for each in chain.from_iterable(map(walk, read)):
            if isinstance(each, Name) and each.symbol not in own and each.symbol.constant is None:
                raise SourceError(
                    f"'{node.function}' uses the variable '{each.symbol.name}'",
                    node.place,
                    "write its formula here",
                )
        outer = dict(self.expressions.names)
        self.expressions.names.update(values)
        try:
            for symbol, value in node.variables:
                assert isinstance(symbol.type, NumberType)
                self.expressions.names[symbol] = self.expressions.converted(value, symbol.type)
            return self.expressions.converted(node.inlined, number_type(node))
        finally:
            self.expressions.names.clear()
            self.expressions.names.update(outer)


def _unknown(node: Call) -> SourceError:
    hint = (
        "regions may call functions of math.h, functions of declarations and 'return', and those "
        "declared with __attribute__((const))"
    )
    if any(isinstance(each.type, ComplexType) for each in (node, *node.arguments)):
        hint = f"write it with {', '.join(each for each in OF_COMPLEX if each[-1] != 'f')}"
    return SourceError(f"the call of '{node.function}' cannot be analysed", node.place, hint)
