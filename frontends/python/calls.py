"""Calls of the functions that kernels may use."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...dialects.errors import SourceError
from .arithmetic import extremum_name
from .captured import MISSING
from .element_types import ElementType, c128, dtype, element_type, f32, f64, i64, promoted
from .evaluator import Evaluator
from .external import call_external, is_registered
from .functions import ALLOCATING, KNOWN, OF_COMPLEX, Known, known
from .values import (
    Constant,
    Scalar,
    Value,
    element_of,
    is_complex,
    is_float,
    is_weak,
    literal,
    type_name,
)

_REMEDY = "write its formula; docs/guide/python-functions.md lists what may be called"

_REMEDIES: Mapping[str, str] = {
    "sum": "write np.sum",
    "reshape": "write the extents alone: A.reshape(n, 2)",
    "ravel": "write A.ravel() alone",
    "len": "write A.shape[0], or a size of the annotations",
    "sort": "sort outside of the kernel",
    "argsort": "sort outside of the kernel",
    "percentile": "compute it outside of the kernel: it sorts",
    "quantile": "compute it outside of the kernel: it sorts",
    "median": "compute it outside of the kernel: it sorts",
    "kron": "write the loops, over an array of four dimensions",
    "append": "write an array of its final size, and store into it",
    "isinstance": "annotate the arguments with their types",
}
"""What to write in place of functions and methods that are called often."""


_REDUCTIONS = (np.sum, np.prod, np.mean, np.max, np.min)


def _remedy(function: object, name: str) -> str:
    """What to write in place of a function; of reductions, that is where they are written."""
    if any(function is each for each in _REDUCTIONS):
        return "assign it to a variable, before a loop and at the end of its body"
    return _REMEDIES.get(name, _REMEDY)


class Calls:
    """Evaluates calls."""

    def __init__(self, expressions: Evaluator) -> None:
        self.expressions = expressions

    def call(self, node: ast.Call) -> Value:
        """The value of a call; raises SourceError."""
        expressions, source = self.expressions, self.expressions.source
        if self._method(node) == "astype":
            return self._astype(node)
        spelled = ast.unparse(node.func)
        found = expressions.captured.resolve(node.func)
        if found is MISSING and self._is_conjugate(node):
            assert isinstance(node.func, ast.Attribute)
            return self.conjugate(expressions.value(node.func.value), node)
        if found is MISSING and self._method(node):
            raise source.error(
                node.func,
                f"the method '{spelled}' is not supported",
                _REMEDIES.get(self._method(node) or "", _REMEDY),
            )
        if found is MISSING:
            owner = node.func.value if isinstance(node.func, ast.Attribute) else node.func
            if not isinstance(owner, ast.Name):
                expressions.value(owner)  # what is not supported there is said first
            raise source.error(node.func, f"'{spelled}' is not defined")
        if is_registered(found):
            return call_external(expressions, found, node)
        element = element_type(found)
        function = known(found)
        if element is None and function is None:
            expressions.emitter.require_operations(node, f"'{spelled}' is not")
            if any(found is each for each in ALLOCATING):
                raise source.error(
                    node,
                    f"'{spelled}' creates an array inside of a statement",
                    f"write `name = {ast.unparse(node)}`, or store a number: A[:] = 0.0",
                )
            raise source.error(
                node.func,
                f"the function '{spelled}' is not supported",
                _remedy(found, spelled.rpartition(".")[2]),
            )
        if node.keywords:
            raise source.error(node.keywords[0].value, f"'{spelled}' takes no keywords here")
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                raise source.error(argument, "'*' is not supported in calls")
        count = 1 if function is None else function.arguments
        if count and len(node.args) != count:
            plural = "" if count == 1 else "s"
            raise source.error(
                node, f"'{spelled}' takes {count} argument{plural} here, not {len(node.args)}"
            )
        if element is not None:
            return self._cast(element, node)
        assert function is not None
        if function.kind == "length":
            return expressions.length(node)
        if function.kind == "where":
            test, one, other = node.args
            return expressions.choose(
                expressions.condition(test),
                lambda: expressions.value(one),
                lambda: expressions.value(other),
                node,
            )
        if function.kind == "outer":
            return expressions.outer(node)
        if function.kind in ("class", "logical"):
            return expressions.truth_value(node)
        return self._apply(function, spelled, node)

    def _apply(self, function: Known, spelled: str, node: ast.Call) -> Value:
        expressions, arithmetic = self.expressions, self.expressions.arithmetic
        values = [expressions.value(argument) for argument in node.args]
        if function.kind == "first" and len(values) < 2:
            raise expressions.source.error(node, f"'{spelled}' takes two or more numbers here")
        constants = [value for value in values if isinstance(value, Constant)]
        if len(constants) == len(values):
            called = next(each for each, what in KNOWN.items() if what is function)
            return arithmetic.fold(called, tuple(constants), node)
        if function.kind == "first":
            result = values[0]
            for value in values[1:]:
                result = arithmetic.first(function.operation, result, value, node)
            return result
        expressions.emitter.require_operations(node, f"'{spelled}' is not")
        is_exponential = function.operation == "math.exp" and not function.of_math
        if any(map(is_complex, values)) and function.kind not in OF_COMPLEX and not is_exponential:
            raise self._of_complex(node)
        if function.kind == "part":
            return self.part(function.operation, values[0], node)
        if function.kind == "conjugate":
            return self.conjugate(values[0], node)
        if function.kind == "complex":
            number = arithmetic.complex_number(values[0], values[1], c128, node)
            return Scalar(number.name, c128, weak=True)
        if function.kind == "operator":
            return arithmetic.binary(getattr(ast, function.operation), values[0], values[1], node)
        if function.kind == "negative":
            return arithmetic.negate(values[0], node)
        if function.kind == "clip":
            low, high = known(np.maximum), known(np.minimum)
            assert low is not None and high is not None
            kind = None if any(map(is_weak, values)) else promoted(*map(element_of, values))
            if kind is not None:  # NumPy looks at the three types at once
                values[:] = [arithmetic.convert(each, kind, node) for each in values]
            return self._extremum(high, [self._extremum(low, values[:2], node), values[2]], node)
        if function.kind == "square":
            return arithmetic.binary(ast.Mult, values[0], values[0], node)
        if function.kind == "absolute":
            return self._absolute(values[0], node)
        if function.kind == "cast":
            return self._python_cast(function, values[0], node)
        if function.kind == "extremum":
            return self._extremum(function, values, node)
        if function.kind == "integer":
            return self._rounded(function, values[0], node)
        if function.kind == "scaled":
            operand = self.floating(values[0], function, node)
            whole, half = (180, math.pi) if function.operation == "degrees" else (math.pi, 180)
            factor = whole / half
            if operand.element is f32:  # NumPy divides in f32.
                factor = float(np.float32(whole) / np.float32(half))
            scaled = arithmetic.binary(ast.Mult, operand, Constant(factor), node)
            assert isinstance(scaled, Scalar)
            return replace(scaled, weak=function.of_math)
        if function.kind == "decimals":
            return self._rounded_to(values[0], values[1], node)
        if function.kind == "finite":
            return self._finite(values, node)
        if function.kind == "reciprocal":
            if not is_float(values[0]):
                raise expressions.source.error(
                    node, "NumPy's reciprocal of an integer is one", "write 1 / x"
                )
            return arithmetic.binary(ast.Div, Constant(1), values[0], node)
        if function.kind == "external":
            return self._external(function, values, node)
        return self._float(function, values, node)

    def _is_conjugate(self, node: ast.Call) -> bool:
        function = node.func
        return (
            isinstance(function, ast.Attribute)
            and function.attr in ("conj", "conjugate")
            and not node.args
            and not node.keywords
        )

    def conjugate(self, value: Value, node: ast.AST) -> Value:
        """The conjugate of a number."""
        arithmetic = self.expressions.arithmetic
        if not is_complex(value):
            return value
        number = arithmetic.scalar(value, node)
        text = f"complex.conj {number.name} : {number.element.mlir}"
        name = self.expressions.emitter.operation(text, node)
        return Scalar(name, number.element, number.weak)

    def part(self, name: str, value: Value, node: ast.AST) -> Value:
        """A part of a number, or its angle; the real part of a real number is the number."""
        arithmetic, emitter = self.expressions.arithmetic, self.expressions.emitter
        if is_complex(value):
            return arithmetic.part(name, arithmetic.scalar(value, node), node)
        if name == "re":
            return value
        element = element_of(value)
        if name == "im" and not isinstance(value, Constant):
            return Scalar(
                emitter.constant(literal(0, element), element.mlir), element, is_weak(value)
            )
        raise self.expressions.source.error(node, f"the {name} of a real number")

    def _method(self, node: ast.Call) -> str | None:
        """The method of an array that a call is."""
        function = node.func
        if isinstance(function, ast.Attribute) and self.expressions.shape(function.value):
            return function.attr
        return None

    def _astype(self, node: ast.Call) -> Value:
        expressions = self.expressions
        assert isinstance(node.func, ast.Attribute)
        written = node.args[0] if len(node.args) == 1 and not node.keywords else node
        element = dtype(expressions.captured.resolve(written))
        if element is None:
            raise expressions.source.error(
                written, "this is no type of elements", "write A.astype(f64)"
            )
        return expressions.arithmetic.convert(expressions.value(node.func.value), element, node)

    def truth(self, node: ast.Call) -> str:
        """The truth value of a call such as `isnan(x)`."""
        expressions = self.expressions
        function = known(expressions.captured.resolve(node.func))
        assert function is not None
        value = expressions.value(node.args[0])
        if is_complex(value):
            raise self._of_complex(node)
        scalar = self.floating(value, function, node)
        text = f"{function.operation} {scalar.name} : {scalar.element.mlir}"
        return expressions.emitter.operation(text, node)

    def _of_complex(self, node: ast.Call) -> SourceError:
        return self.expressions.source.error(
            node,
            f"'{ast.unparse(node.func)}' of a complex number is not supported",
            "write it with .real and .imag",
        )

    def _cast(self, element: ElementType, node: ast.Call) -> Value:
        expressions = self.expressions
        value = expressions.value(node.args[0])
        if isinstance(value, Constant):
            return expressions.arithmetic.fold(element.number, (value,), node)
        expressions.emitter.require_operations(node, f"{element}(...) is data")
        return expressions.arithmetic.convert(value, element, node)

    def _python_cast(self, function: Known, value: Value, node: ast.Call) -> Value:
        element = f64 if function.operation == "float" else i64
        converted = self.expressions.arithmetic.convert(value, element, node)
        return Scalar(converted.name, element, weak=True)

    def floating(self, value: Value, function: Known, node: ast.AST) -> Scalar:
        """An operand as the function takes it."""
        arithmetic = self.expressions.arithmetic
        if function.of_math:
            return Scalar(arithmetic.convert(value, f64, node).name, f64, weak=True)
        if is_float(value):
            return arithmetic.scalar(value, node)
        if not is_weak(value) and element_of(value).width < 32:
            raise self.expressions.source.error(
                node,
                f"NumPy computes this of {type_name(value)} in a shorter floating-point type",
                "write f32(...) or f64(...) around the argument",
            )
        return Scalar(arithmetic.convert(value, f64, node).name, f64, is_weak(value))

    def _external(self, function: Known, values: list[Value], node: ast.Call) -> Value:
        """A function of the C library that MLIR has no operation for."""
        arithmetic, emitter = self.expressions.arithmetic, self.expressions.emitter
        operands = self._operands(function, values, node)
        element = operands[0].element
        wide = f64 if element is f64 else f32
        names = [arithmetic.convert(operand, wide, node).name for operand in operands]
        callee = function.operation + ("f" if wide is f32 else "")
        types = ", ".join([wide.mlir] * len(names))
        text = f'math.external "{callee}"({", ".join(names)}) : ({types}) -> {wide.mlir}'
        result = Scalar(emitter.operation(text, node), wide)
        name = arithmetic.convert(result, element, node).name
        return Scalar(name, element, weak=function.of_math)

    def _operands(self, function: Known, values: list[Value], node: ast.Call) -> list[Scalar]:
        """The operands of a function of floating-point numbers."""
        if len(values) == 1 or function.of_math:
            return [self.floating(value, function, node) for value in values]
        if not any(is_float(value) for value in values):
            raise self.expressions.source.error(
                node, "an argument must be a floating-point number", "write f64(...) around one"
            )
        return list(self.expressions.arithmetic.common(values[0], values[1], node))

    def _float(self, function: Known, values: list[Value], node: ast.Call) -> Value:
        emitter = self.expressions.emitter
        operands = self._operands(function, values, node)
        names = ", ".join(operand.name for operand in operands)
        element = operands[0].element
        operation = "complex.exp" if element.is_complex else function.operation
        result = emitter.operation(f"{operation} {names} : {element.mlir}", node)
        # A scalar function of NumPy returns NumPy's type, also for numbers of Python.
        return Scalar(result, element, weak=function.of_math)

    def _rounded(self, function: Known, value: Value, node: ast.Call) -> Value:
        if not is_float(value):
            return value
        arithmetic, emitter = self.expressions.arithmetic, self.expressions.emitter
        scalar = arithmetic.scalar(value, node)
        text = f"{function.operation} {scalar.name} : {scalar.element.mlir}"
        rounded = Scalar(emitter.operation(text, node), scalar.element)
        return Scalar(arithmetic.convert(rounded, i64, node).name, i64, weak=True)

    def _rounded_to(self, value: Value, decimals: Value, node: ast.Call) -> Value:
        """A number with so many decimals: NumPy multiplies, rounds to the nearest even, divides."""
        arithmetic, even = self.expressions.arithmetic, known(np.rint)
        digits = decimals.value if isinstance(decimals, Constant) else None
        assert even is not None
        if type(digits) is not int or (not is_float(value) and digits < 0):
            raise self.expressions.source.error(
                node, "rounding to a number of decimals that is no constant, or of integers"
            )
        if not is_float(value):
            return value
        shift = Constant(10.0 ** abs(digits))
        scaled, back = (ast.Mult, ast.Div) if digits > 0 else (ast.Div, ast.Mult)
        if digits:
            value = arithmetic.binary(scaled, value, shift, node)
        rounded = self._float(even, [value], node)
        return arithmetic.binary(back, rounded, shift, node) if digits else rounded

    def _finite(self, values: list[Value], node: ast.Call) -> Value:
        """A number, and others in place of NaN and infinities: the largest, if none are given."""
        arithmetic = self.expressions.arithmetic
        value, nan, *infinities = values
        if not is_float(value):
            return value
        number = arithmetic.scalar(value, node)
        limits = np.finfo(number.element.numpy)
        ends: list[Value] = infinities or [Constant(limits.max), Constant(limits.min)]
        beyond = [Constant(float("inf")), Constant(float("-inf"))]
        result = number
        for end, infinity in zip(ends, beyond, strict=True):
            test = arithmetic.compare("eq", *arithmetic.common(number, infinity, node), node)
            result = arithmetic.select(
                test, arithmetic.convert(end, number.element, node), result, node
            )
        test = arithmetic.compare("ne", number, number, node)
        return arithmetic.select(test, arithmetic.convert(nan, number.element, node), result, node)

    def _absolute(self, value: Value, node: ast.Call) -> Value:
        arithmetic, emitter = self.expressions.arithmetic, self.expressions.emitter
        if is_complex(value):
            return arithmetic.part("abs", arithmetic.scalar(value, node), node)
        if is_float(value):
            scalar = arithmetic.scalar(value, node)
            text = f"math.absf {scalar.name} : {scalar.element.mlir}"
            return Scalar(emitter.operation(text, node), scalar.element, scalar.weak)
        scalar = arithmetic.scalar(value, node)
        if scalar.element.is_unsigned:
            return scalar
        negative = arithmetic.negate(scalar, node)
        assert isinstance(negative, Scalar)
        return arithmetic.operation("maxsi", scalar, negative, node)

    def _extremum(self, function: Known, values: list[Value], node: ast.Call) -> Value:
        arithmetic = self.expressions.arithmetic
        one, other = arithmetic.common(values[0], values[1], node)
        name = f"{function.operation}f"
        if not one.element.is_float:
            name = extremum_name(function.operation[:3], one.element)
        result = arithmetic.operation(name, one, other, node)
        return Scalar(result.name, result.element)
