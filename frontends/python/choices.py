"""Conditions of Python, and values that are chosen by them."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from ..text.affine import Affine, Index, set_text
from ..text.conditions import (
    Condition,
    DataTest,
    Fixed,
    Junction,
    alternatives,
    junction,
    negation,
    not_negative,
    tests_data,
    zero,
)
from ..text.guards import Guards
from ..text.repetitions import Repetitions, Truths, affine_first, is_mixed, necessary
from .arithmetic import index_of
from .captured import MISSING
from .element_types import b1
from .evaluator import Evaluator
from .functions import known
from .values import Constant, Scalar, Value

Choice: TypeAlias = Callable[[], "Value | None"]
"""Evaluates one of two values; None where it does not matter."""

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


_NUMBERS = (ast.Name, ast.Subscript, ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Call, ast.Constant)
"""Expressions whose truth value is that they are not zero."""


class Choices:
    """Evaluates conditions and conditional expressions."""

    def __init__(self, expressions: Evaluator) -> None:
        self.expressions = expressions
        self.source = expressions.source
        self.emitter = expressions.emitter
        self.arithmetic = expressions.arithmetic
        self.repetitions = Repetitions()

    def condition(self, node: ast.expr) -> Condition:
        """A condition, without emitting anything; raises SourceError."""
        if isinstance(node, ast.BoolOp):
            conjunction = isinstance(node.op, ast.And)
            for each in node.values:
                self._check_number(
                    each, "'and'" if conjunction else "'or'", "&" if conjunction else "|"
                )
            return junction(conjunction, [self.condition(value) for value in node.values])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self._check_number(node.operand, "'not'", "~")
            return negation(self.condition(node.operand))
        if isinstance(node, ast.BinOp) and self._is_condition(node):
            parts = [self.condition(node.left), self.condition(node.right)]
            return junction(isinstance(node.op, ast.BitAnd), parts)
        if isinstance(node, ast.UnaryOp) and self._is_condition(node):
            return negation(self.condition(node.operand))
        if isinstance(node, ast.Compare):
            if len(node.ops) > 1:
                self._check_number(node, "a chain of comparisons", "&")
            lefts = [node.left, *node.comparators[:-1]]
            triples = zip(lefts, node.ops, node.comparators, strict=True)
            return junction(True, [self._comparison(node, *triple) for triple in triples])
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            return Fixed(node.value)
        if isinstance(node, ast.Call):
            function = known(self.expressions.captured.resolve(node.func))
            if function is not None and function.kind == "class" and len(node.args) == 1:
                return DataTest(Test(node, None, tuple(node.args)))
            if function is not None and function.kind == "logical":
                parts = [self.condition(each) for each in node.args]
                if function.operation == "not":
                    return negation(parts[0])
                return junction(function.operation == "and", parts)
        if isinstance(node, ast.Name | ast.Attribute):
            found = (
                MISSING
                if self.expressions.is_local(node)
                else self.expressions.captured.resolve(node)
            )
            if isinstance(found, bool):
                self.expressions.captured.numbers[ast.unparse(node)] = found
                return Fixed(found)
        if isinstance(node, _NUMBERS):
            zero_node = ast.copy_location(ast.Constant(0), node)
            compared = ast.copy_location(ast.Compare(node, [ast.NotEq()], [zero_node]), node)
            return self._comparison(compared, node, ast.NotEq(), zero_node)
        raise self.source.error(node, "this is not a condition")

    def _is_condition(self, node: ast.expr) -> bool:
        """Whether an expression is a truth value by its form, which `&`, `|`, `~` combine."""
        if isinstance(node, ast.BinOp):
            combines = isinstance(node.op, ast.BitAnd | ast.BitOr)
            return combines and self._is_condition(node.left) and self._is_condition(node.right)
        if isinstance(node, ast.UnaryOp):
            inverts = isinstance(node.op, ast.Invert) and self._is_condition(node.operand)
            return inverts or isinstance(node.op, ast.Not)
        if isinstance(node, ast.Call):
            function = known(self.expressions.captured.resolve(node.func))
            return function is not None and function.kind in ("class", "logical")
        if isinstance(node, ast.Constant):
            return isinstance(node.value, bool)
        return isinstance(node, ast.Compare | ast.BoolOp)

    def _check_number(self, node: ast.expr, what: str, instead: str) -> None:
        """Raises SourceError for an array, whose truth value Python does not know."""
        if self.expressions.shape(node):
            raise self.source.error(
                node, f"{what} of an array", f"write {instead} between comparisons in parentheses"
            )

    def _comparison(
        self, node: ast.Compare, left: ast.expr, op: ast.cmpop, right: ast.expr
    ) -> Condition:
        if type(op) not in PREDICATES:
            raise self.source.error(
                node,
                "'in' is supported for a few values, and 'is' is not",
                "compare with ==, !=, <, <=, > or >=; write a loop for an array",
            )
        known = self.expressions.static(left), self.expressions.static(right)
        test = DataTest(Test(node, type(op), (left, right)))
        if isinstance(known[0], Constant) and isinstance(known[1], Constant):
            if known[0].is_complex or known[1].is_complex:
                self.arithmetic.check_no_order(PREDICATES[type(op)], node)
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

    # Truth values

    def truth(self, condition: Condition, node: ast.AST) -> str:
        """The truth value of a condition."""
        return Truths[ast.AST](self).truth(condition, node)

    @property
    def guards(self) -> Guards[ast.AST]:
        """The conditions under which elements matter."""
        return self.expressions.guards

    def fixed(self, value: bool) -> str:
        """A truth value that is known."""
        return self.emitter.constant(str(value).lower(), "i1")

    def either(
        self, condition: Condition, one: Callable[[], str], other: Callable[[], str], node: ast.AST
    ) -> str:
        """One of two truth values, by an affine condition."""
        yes, no = partial(_truth_value, one), partial(_truth_value, other)
        result = self.choose(condition, yes, no, node)
        assert isinstance(result, Scalar)
        return result.name

    def tested(self, test: DataTest, node: ast.AST) -> str:
        """A test of data."""
        name = self._test(test.subject)
        if not test.negated:
            return name
        return self.emitter.operation(f"arith.xori {name}, {self.fixed(True)} : i1", node)

    def _test(self, test: Test) -> str:
        values = [self.expressions.value(side) for side in test.sides]
        if test.operator is None:
            assert isinstance(test.node, ast.Call)
            function = known(self.expressions.captured.resolve(test.node.func))
            assert function is not None
            return self.expressions.truth_of_call(test.node)
        return self.arithmetic.test(PREDICATES[test.operator], values[0], values[1], test.node)

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
        if is_mixed(condition):
            return self._mixed(condition, one, other, node)
        if tests_data(condition):
            return self._by_truth(self.truth(condition, node), one, other, node)
        return self._affine(condition, one, other, node)

    def _affine(self, condition: Condition, one: Choice, other: Choice, node: ast.AST) -> Value:
        """One of two values by an affine condition; the other one is not computed."""
        found = alternatives(condition)
        if found is None:
            raise self.source.error(node, "the condition has too many alternatives")
        if len(found) > 1:
            inverse = alternatives(negation(condition))
            if inverse is not None and len(inverse) == 1:
                return self._affine(negation(condition), other, one, node)
            rest = junction(False, [junction(True, each) for each in found[1:]])
            head = junction(True, found[0])
            return self._affine(head, one, partial(self._affine, rest, one, other, node), node)
        constraints = set_text([(r.expression, r.equation) for r in found[0]])
        return self._branches("affine", constraints, one, other, node)

    def _by_truth(
        self, truth: str, one: Callable[[], Value], other: Callable[[], Value], node: ast.AST
    ) -> Value:
        """One of two values; both are computed, but for those that are not affine in any case."""
        if self.expressions.guards.in_branches:
            return self._branches("scf", truth, one, other, node)
        with self.expressions.guards.under(truth, True):
            first_value = one()
        with self.expressions.guards.under(truth, False):
            second_value = other()
        values = first_value, second_value
        kind = self.arithmetic.joined(*values, node)
        first, second = (self.arithmetic.convert(each, kind.element, node) for each in values)
        result = self.arithmetic.select(truth, first, second, node)
        return Scalar(result.name, kind.element, kind.weak)

    def _mixed(
        self,
        condition: Condition,
        one: Callable[[], Value],
        other: Callable[[], Value],
        node: ast.AST,
    ) -> Value:
        """One of two values, by a condition on both data and loop variables."""
        with self.repetitions.of(condition, *_weights(node)) as is_guarded:
            if is_guarded:
                return self._guarded(condition, one, other, node)
        truth = self.truth(condition, node)
        yes = partial(self._where, necessary(condition), one, node)
        no = partial(self._where, necessary(negation(condition)), other, node)
        return self._by_truth(truth, yes, no, node)

    def _guarded(
        self,
        condition: Condition,
        one: Callable[[], Value],
        other: Callable[[], Value],
        node: ast.AST,
    ) -> Value:
        """One of two values: affine parts guard the accesses of the others."""
        if not is_mixed(condition):
            return self.choose(condition, one, other, node)
        assert isinstance(condition, Junction)
        head, rest = affine_first(condition)
        inner = partial(self._guarded, rest, one, other, node)
        branches = (inner, other) if condition.conjunction else (one, inner)
        return self._guarded(head, *branches, node)

    def _where(
        self, conditions: list[Condition], value: Callable[[], Value], node: ast.AST
    ) -> Value:
        """A value that matters, and is computed, where affine conditions hold."""
        if not conditions:
            return value()
        inner = partial(self._where, conditions[1:], value, node)
        return self._affine(conditions[0], inner, lambda: None, node)

    def _branches(
        self,
        dialect: str,
        condition: str,
        one: Choice,
        other: Choice,
        node: ast.AST,
    ) -> Value:
        """One of two values, where the other is not computed."""
        with self.emitter.block() as first_block:
            first_value = one()
        with self.emitter.block() as second_block:
            second_value = other()
        kind = self.arithmetic.joined(*_alike(first_value, second_value), node)
        for block, value in ((first_block, first_value), (second_block, second_value)):
            with self.emitter.block(block):
                number = Constant(0) if value is None else value
                name = self.arithmetic.convert(number, kind.element, node).name
                self.emitter.line(f"{dialect}.yield {name} : {kind.element.mlir}", node)
        result = self.emitter.branches(
            f"{dialect}.if {condition} -> {kind.element.mlir}", first_block, second_block, node
        )
        return Scalar(result, kind.element, kind.weak)


def _alike(one: Value | None, other: Value | None) -> tuple[Value, Value]:
    """Two values; one that is missing is like the other."""
    first, second = (other if one is None else one), (one if other is None else other)
    assert first is not None and second is not None
    return first, second


def _truth_value(name: Callable[[], str]) -> Value:
    return Scalar(name(), b1)


def _weights(node: ast.AST) -> tuple[int, int]:
    """How much the values of a conditional expression compute."""
    if not isinstance(node, ast.IfExp):
        return 1, 1
    one, other = (
        1 + sum(isinstance(each, ast.IfExp | ast.Call) for each in ast.walk(part))
        for part in (node.body, node.orelse)
    )
    return one, other
