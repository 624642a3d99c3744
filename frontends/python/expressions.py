"""Expressions of Python as values and conditions."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import TypeAlias

from ..text.affine import Affine, Index, Name, set_text
from ..text.conditions import (
    Condition,
    DataTest,
    Fixed,
    Junction,
    alternatives,
    is_affine,
    junction,
    negation,
    not_negative,
    tests_data,
    zero,
)
from ..text.emitter import Emitter, NotAffine
from .arithmetic import Arithmetic, index_of
from .calls import Calls
from .captured import MISSING, Captured
from .element_types import ArrayType, element_type
from .functions import known
from .source import PythonSource
from .values import Constant, Scalar, Value, type_name
from .variables import Variable

PREDICATES: dict[type[ast.cmpop], str] = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}


@dataclass(frozen=True)
class Test:
    """A test of data: a comparison (operator and both sides), or a call such as `isnan(x)`."""

    node: ast.expr
    operator: type[ast.cmpop] | None
    sides: tuple[ast.expr, ...]


@dataclass(frozen=True)
class ArrayValue:
    """An array: an argument, or with its `sizes` one that the function allocates."""

    name: str
    type: ArrayType
    sizes: tuple[Index, ...] | None = None

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.type.extents)


Meaning: TypeAlias = "Value | ArrayValue"


class Expressions:
    """Evaluates expressions; emits the operations that they need."""

    def __init__(
        self,
        source: PythonSource,
        captured: Captured,
        emitter: Emitter[ast.AST],
        variables: Mapping[ast.Name, Variable],
    ) -> None:
        self.source = source
        self.captured = captured
        self.emitter = emitter
        self.variables = dict(variables)
        self.names: dict[str, Meaning] = {}
        self.values: dict[Variable, Value] = {}
        self.left_loops: set[str] = set()
        self.dimensions: dict[str, str] = {}
        self.arithmetic = Arithmetic(emitter, source)
        self.calls = Calls(self)

    # Affine expressions

    def index(self, node: ast.expr, what: str) -> Index:
        """An affine integer; raises SourceError where it is none."""
        try:
            with self.emitter.affine_only():
                value = self.value(node)
        except NotAffine as error:
            message = f"{what} must be affine in loop variables and sizes, but {error.reason}"
            raise self.source.error(error.node, message, error.hint) from None
        index = index_of(value)
        if index is None:
            raise self.source.error(node, f"{what} must be an integer, not {type_name(value)}")
        return index

    def affine(self, node: ast.expr, what: str) -> Affine:
        """An affine expression without minimum or maximum; raises SourceError."""
        affine = self.index(node, what).affine
        if affine is None:
            raise self.source.error(node, f"{what} must be affine, not a minimum or maximum")
        return affine

    def static(self, node: ast.expr) -> Constant | Index | None:
        """A constant or an affine integer, or None."""
        try:
            with self.emitter.affine_only():
                value = self.value(node)
        except NotAffine:
            return None
        return None if isinstance(value, Scalar) else value

    # Values

    def value(self, node: ast.expr) -> Value:
        """The value of an expression; raises SourceError."""
        if isinstance(node, ast.Constant):
            if isinstance(node.value, bool) or not isinstance(node.value, int | float):
                raise self.source.error(node, f"{node.value!r} is not a number")
            return Constant(node.value)
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, ast.BinOp):
            left, right = self.value(node.left), self.value(node.right)
            return self.arithmetic.binary(type(node.op), left, right, node)
        if isinstance(node, ast.UnaryOp):
            return self._unary(node)
        if isinstance(node, ast.IfExp):
            condition = self.condition(node.test)
            return self.choose(
                condition, lambda: self.value(node.body), lambda: self.value(node.orelse), node
            )
        if isinstance(node, ast.Call):
            return self.calls.call(node)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Compare | ast.BoolOp):
            raise self.source.error(
                node, "a truth value is not a number", "write `1 if ... else 0`"
            )
        raise self.source.error(
            node, f"this expression ({type(node).__name__.lower()}) is not supported"
        )

    def length(self, node: ast.Call) -> Value:
        """The first extent of the array argument of a call."""
        argument = node.args[0]
        array = self.names.get(argument.id) if isinstance(argument, ast.Name) else None
        if not isinstance(array, ArrayValue) or not array.rank:
            raise self.source.error(node, "'len' takes an array argument here")
        return self.extent(array, 0)

    def extent(self, array: ArrayValue, dimension: int) -> Index:
        """An extent of an array, as it is in a call."""
        if array.sizes is not None:
            return array.sizes[dimension]
        extent = array.type.extents[dimension]
        if isinstance(extent, int):
            return Index((Affine(constant=extent),))
        name = f"{array.name}.shape.{dimension}"
        if name not in self.dimensions:
            position = self.emitter.constant(str(dimension), "index")
            self.dimensions[name] = f"memref.dim %{array.name}, {position} : {array.type.mlir}"
        return Index((Affine.of(Name(name, symbol=True)),))

    def _name(self, node: ast.Name) -> Value:
        variable = self.variables.get(node)
        if variable is not None:
            return self.read(variable, node)
        found = self.names.get(node.id)
        if isinstance(found, ArrayValue):
            subscripts = ", ".join("ijkl"[d] if d < 4 else "..." for d in range(found.rank))
            raise self.source.error(
                node,
                f"'{node.id}' is a whole array; kernels compute with elements",
                f"write a loop over {node.id}[{subscripts}]",
            )
        if found is not None:
            if isinstance(found, Scalar):
                self.emitter.require_operations(node, f"'{node.id}' is {type_name(found)}")
            return found
        if node.id in self.left_loops:
            raise self.source.error(
                node,
                f"'{node.id}' is used behind its loop",
                "use the bound of the loop, or another variable",
            )
        return self._captured(node, self.captured.value(node.id))

    def read(self, variable: Variable, node: ast.AST) -> Value:
        """The value of a local variable."""
        value = self.values.get(variable)
        if value is not None:
            if isinstance(value, Scalar):
                self.emitter.require_operations(
                    node, f"'{variable.name}' is {type_name(value)} computed by the kernel"
                )
            return value
        self.emitter.require_operations(
            node,
            f"'{variable.name}' is assigned more than once",
            f"write '{variable.name}' in terms of loop variables",
        )
        kind = variable.kind
        assert kind is not None, "definite assignment"
        text = f"affine.load %{variable.cell}[] : memref<{kind.element}>"
        return Scalar(self.emitter.operation(text, node), kind.element, kind.weak)

    def _captured(self, node: ast.expr, found: object) -> Value:
        spelled = ast.unparse(node)
        if found is MISSING:
            raise self.source.error(
                node,
                f"'{spelled}' is not defined",
                "make it an argument, or define it before the kernel",
            )
        if isinstance(found, bool):
            raise self.source.error(node, f"'{spelled}' is a truth value, not a number")
        if type(found) not in (int, float) and element_type(type(found)) is None:
            raise self.source.error(
                node,
                f"'{spelled}' is {_article(found)}; only numbers are taken from outside",
                "pass it as an argument",
            )
        constant = self.arithmetic.constant(found, node)
        self.captured.numbers[spelled] = constant.value
        return constant

    def _attribute(self, node: ast.Attribute) -> Value:
        owner = self.names.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if isinstance(owner, ArrayValue):
            hint = f"write {owner.name}.shape[0]" if node.attr == "shape" else None
            raise self.source.error(node, f"'{ast.unparse(node)}' is not a number", hint)
        return self._captured(node, self.captured.resolve(node))

    def shape(self, node: ast.expr) -> tuple[Index, ...] | None:
        """The extents where a piece is `A.shape`."""
        if isinstance(node, ast.Attribute) and node.attr == "shape":
            owner = self.names.get(node.value.id) if isinstance(node.value, ast.Name) else None
            if isinstance(owner, ArrayValue):
                return tuple(self.extent(owner, dimension) for dimension in range(owner.rank))
        return None

    def _subscript(self, node: ast.Subscript) -> Value:
        extents = self.shape(node.value)
        if extents is not None:
            position = self.affine(node.slice, "which extent")
            if position.terms or not -len(extents) <= position.constant < len(extents):
                raise self.source.error(node, f"the array has {len(extents)} dimensions")
            return extents[position.constant]
        array, subscripts = self.access(node)
        self.emitter.require_operations(
            node, f"'{ast.unparse(node)}' is data", "subscripts and bounds may not depend on data"
        )
        text = f"affine.load %{array.name}[{subscripts}] : {array.type.mlir}"
        return Scalar(self.emitter.operation(text, node), array.type.element)

    def access(self, node: ast.Subscript) -> tuple[ArrayValue, str]:
        """An element: its array and the text of the subscripts."""
        written: list[ast.expr] = []
        base: ast.expr = node
        while isinstance(base, ast.Subscript):
            inner = base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
            written = [*inner, *written]
            base = base.value
        array = self.names.get(base.id) if isinstance(base, ast.Name) else None
        if not isinstance(array, ArrayValue):
            raise self.source.error(
                base,
                f"'{ast.unparse(base)}' is no array argument",
                f'annotate it: {ast.unparse(base)}: f64["N"]'
                if isinstance(base, ast.Name)
                else None,
            )
        for each in written:
            if isinstance(each, ast.Slice) or (
                isinstance(each, ast.Constant) and each.value in (None, Ellipsis)
            ):
                raise self.source.error(
                    each, "slices are not supported", "write a loop over the elements"
                )
        if len(written) != array.rank:
            dimensions = _count(array.rank, "dimension")
            raise self.source.error(node, f"'{array.name}' has {dimensions}, not {len(written)}")
        texts: list[str] = []
        for dimension, each in enumerate(written):
            affine = self.affine(each, "a subscript")
            if not affine.terms and affine.constant < 0:  # as in NumPy: from the end
                end = self.extent(array, dimension).affine
                assert end is not None
                affine = end.plus(affine)
            texts.append(affine.render())
        return array, ", ".join(texts)

    def _unary(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            raise self.source.error(
                node, "a truth value is not a number", "write `1 if ... else 0`"
            )
        value = self.value(node.operand)
        if isinstance(node.op, ast.USub):
            return self.arithmetic.negate(value, node)
        if isinstance(node.op, ast.Invert):
            return self.arithmetic.binary(ast.BitXor, value, Constant(-1), node)
        return value

    # Conditions

    def condition(self, node: ast.expr) -> Condition:
        """A condition, without emitting anything; raises SourceError."""
        if isinstance(node, ast.BoolOp):
            parts = [self.condition(value) for value in node.values]
            return junction(isinstance(node.op, ast.And), parts)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return negation(self.condition(node.operand))
        if isinstance(node, ast.Compare):
            lefts = [node.left, *node.comparators[:-1]]
            triples = zip(lefts, node.ops, node.comparators, strict=True)
            return junction(True, [self._comparison(node, *triple) for triple in triples])
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            return Fixed(node.value)
        if isinstance(node, ast.Call):
            function = known(self.captured.resolve(node.func))
            if function is not None and function.kind == "class" and len(node.args) == 1:
                return DataTest(Test(node, None, tuple(node.args)))
        if isinstance(node, ast.Name | ast.Attribute):
            found = MISSING if self._is_local(node) else self.captured.resolve(node)
            if isinstance(found, bool):
                self.captured.numbers[ast.unparse(node)] = found
                return Fixed(found)
        raise self.source.error(
            node,
            "this is not a condition",
            f"write `{ast.unparse(node)} != 0`" if _is_number(node) else None,
        )

    def _is_local(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and (node in self.variables or node.id in self.names)

    def _comparison(
        self, node: ast.Compare, left: ast.expr, op: ast.cmpop, right: ast.expr
    ) -> Condition:
        if type(op) not in PREDICATES:
            raise self.source.error(
                node, "'in' and 'is' are not supported", "compare with ==, !=, <, <=, > or >="
            )
        known = self.static(left), self.static(right)
        test = DataTest(Test(node, type(op), (left, right)))
        if isinstance(known[0], Constant) and isinstance(known[1], Constant):
            return Fixed(
                bool(getattr(operator, PREDICATES[type(op)])(known[0].value, known[1].value))
            )
        if known[0] is None or known[1] is None:
            return test
        one, other = index_of(known[0]), index_of(known[1])
        if one is None or other is None:
            raise self.source.error(
                node, "a size is compared with a floating-point number", "compare with an integer"
            )
        if isinstance(op, ast.Eq | ast.NotEq):
            difference = one.plus(other, -1)
            if difference is None:
                return test
            return zero(difference) if isinstance(op, ast.Eq) else negation(zero(difference))
        if isinstance(op, ast.Gt | ast.GtE):
            one, other = other, one
        difference = other.plus(one, -1)
        if difference is None:
            return test
        if isinstance(op, ast.Lt | ast.Gt):
            difference = difference.plus(Index((Affine(constant=1),)), -1)
            assert difference is not None
        return not_negative(difference)

    def truth(self, condition: Condition, node: ast.AST) -> str:
        """The truth value of a condition on data alone."""
        if isinstance(condition, Junction):
            names = [self.truth(part, node) for part in condition.parts]
            word = "andi" if condition.conjunction else "ori"
            result = names[0]
            for name in names[1:]:
                result = self.emitter.operation(f"arith.{word} {result}, {name} : i1", node)
            return result
        assert isinstance(condition, DataTest)
        name = self._test(condition.subject)
        if not condition.negated:
            return name
        true = self.emitter.constant("true", "i1")
        return self.emitter.operation(f"arith.xori {name}, {true} : i1", node)

    def _test(self, test: Test) -> str:
        values = [self.value(side) for side in test.sides]
        if test.operator is None:
            assert isinstance(test.node, ast.Call)
            function = known(self.captured.resolve(test.node.func))
            assert function is not None
            scalar = self.calls.floating(values[0], function, test.node)
            text = f"{function.operation} {scalar.name} : {scalar.element}"
            return self.emitter.operation(text, test.node)
        one, other = self.arithmetic.common(values[0], values[1], test.node)
        return self.arithmetic.compare(PREDICATES[test.operator], one, other, test.node)

    def choose(
        self,
        condition: Condition,
        one: Callable[[], Value],
        other: Callable[[], Value],
        node: ast.AST,
    ) -> Value:
        """The value of a conditional expression.

        Where the condition is affine, only the accesses of the branch that is taken are made.
        """
        if isinstance(condition, Fixed):
            return one() if condition.value else other()
        self.emitter.require_operations(node, "a conditional expression is not")
        if tests_data(condition) and is_affine(condition):
            assert isinstance(condition, Junction)
            # Affine parts first: they guard the accesses of the others.
            parts = sorted(condition.parts, key=tests_data)
            head, rest = parts[0], junction(condition.conjunction, parts[1:])
            inner = partial(self.choose, rest, one, other, node)
            if condition.conjunction:
                return self.choose(head, inner, other, node)
            return self.choose(head, one, inner, node)
        if tests_data(condition):
            truth = self.truth(condition, node)
            values = one(), other()
            kind = self.arithmetic.joined(*values, node)
            first, second = (self.arithmetic.convert(each, kind.element, node) for each in values)
            result = self.arithmetic.select(truth, first, second, node)
            return Scalar(result.name, kind.element, kind.weak)
        found = alternatives(condition)
        if found is None:
            raise self.source.error(node, "the condition has too many alternatives")
        if len(found) > 1:
            inverse = alternatives(negation(condition))
            if inverse is not None and len(inverse) == 1:
                return self.choose(negation(condition), other, one, node)
            rest = junction(False, [junction(True, each) for each in found[1:]])
            head = junction(True, found[0])
            return self.choose(head, one, lambda: self.choose(rest, one, other, node), node)
        with self.emitter.block() as first_block:
            first_value = one()
        with self.emitter.block() as second_block:
            second_value = other()
        kind = self.arithmetic.joined(first_value, second_value, node)
        for block, value in ((first_block, first_value), (second_block, second_value)):
            with self.emitter.block(block):
                name = self.arithmetic.convert(value, kind.element, node).name
                self.emitter.line(f"affine.yield {name} : {kind.element}", node)
        constraints = set_text([(r.expression, r.equation) for r in found[0]])
        result = self.emitter.branches(
            f"affine.if {constraints} -> {kind.element}", first_block, second_block, node
        )
        return Scalar(result, kind.element, kind.weak)


def _article(found: object) -> str:
    if isinstance(found, ModuleType):
        return "a module"
    return f"an object of type {type(found).__name__}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Subscript | ast.BinOp)
