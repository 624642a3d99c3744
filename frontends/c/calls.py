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
    remedy,
)
from .numbers import number_type
from .tree import Call, Name, Symbol, walk
from .values import Constant, Scalar, Value

_UNSIGNED = {
    16: replace(UNSIGNED, name="unsigned short", width=16),
    32: UNSIGNED,
    64: replace(LONG, name="unsigned long", signed=False),
}
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
        kind = _UNSIGNED[width]
        name = self._argument(node, 0, kind)
        emit = {"bswap": self._swapped, "parity": self._parity, "ffs": self._first_set}
        if operation in emit:
            name = emit[operation](name, kind, node)
        else:
            name = self._unary(operation, name, kind, node)
        found = Scalar(name, kind)
        return self.expressions.arithmetic.convert(found, number_type(node), node)

    def _parity(self, name: str, kind: IntegerType, node: Call) -> str:
        return self._two("arith.andi", self._unary("math.ctpop", name, kind, node), 1, kind, node)

    def _first_set(self, name: str, kind: IntegerType, node: Call) -> str:
        """The position of the last bit that is set, from 1; 0 for 0."""
        zero = self.expressions.arithmetic.scalar(Constant(0, kind), node).name
        is_zero = self.emitter.operation(f"arith.cmpi eq, {name}, {zero} : {kind.mlir}", node)
        after = self._two("arith.addi", self._unary("math.cttz", name, kind, node), 1, kind, node)
        return self.emitter.operation(
            f"arith.select {is_zero}, {zero}, {after} : {kind.mlir}", node
        )

    def _unary(self, operation: str, name: str, kind: IntegerType, node: Call) -> str:
        return self.emitter.operation(f"{operation} {name} : {kind.mlir}", node)

    def _two(
        self, operation: str, name: str, right: int | str, kind: IntegerType, node: Call
    ) -> str:
        if isinstance(right, int):
            right = self.expressions.arithmetic.scalar(Constant(right, kind), node).name
        return self.emitter.operation(f"{operation} {name}, {right} : {kind.mlir}", node)

    def _swapped(self, name: str, kind: IntegerType, node: Call) -> str:
        """The bytes in the opposite order: neighbours change places, then pairs, then fours."""
        distance = 8
        while distance < kind.width:
            low = sum(
                ((1 << distance) - 1) << start for start in range(0, kind.width, 2 * distance)
            )
            down = self._two("arith.shrui", name, distance, kind, node)
            down = self._two("arith.andi", down, low, kind, node)
            up = self._two("arith.andi", name, low, kind, node)
            up = self._two("arith.shli", up, distance, kind, node)
            name = self._two("arith.ori", down, up, kind, node)
            distance *= 2
        return name

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
    hint = "it calls itself: write a loop" if node.is_recursive else remedy(node.function)
    if any(isinstance(each.type, ComplexType) for each in (node, *node.arguments)):
        hint = f"write it with {', '.join(each for each in OF_COMPLEX if each[-1] != 'f')}"
    return SourceError(f"the call of '{node.function}' cannot be analysed", node.place, hint)
