"""Conditions of Python, and values that are chosen by them."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ..text.affine import Affine, Index, set_text
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
from .arithmetic import index_of
from .captured import MISSING
from .evaluator import Evaluator
from .functions import known
from .values import Constant, Scalar, Value

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

    def truth(self, condition: Condition, node: ast.AST) -> str:
        """The truth value of a condition on data alone."""
        if isinstance(condition, Junction):
            result = self.truth(condition.parts[0], node)
            for part in condition.parts[1:]:
                rest = partial(self.truth, part, node)
                guards = self.expressions.guards
                result = guards.junction(condition.conjunction, result, rest, node)
            return result
        assert isinstance(condition, DataTest)
        name = self._test(condition.subject)
        if not condition.negated:
            return name
        true = self.emitter.constant("true", "i1")
        return self.emitter.operation(f"arith.xori {name}, {true} : i1", node)

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
        constraints = set_text([(r.expression, r.equation) for r in found[0]])
        return self._branches("affine", constraints, one, other, node)

    def _branches(
        self,
        dialect: str,
        condition: str,
        one: Callable[[], Value],
        other: Callable[[], Value],
        node: ast.AST,
    ) -> Value:
        """One of two values, where the other is not computed."""
        with self.emitter.block() as first_block:
            first_value = one()
        with self.emitter.block() as second_block:
            second_value = other()
        kind = self.arithmetic.joined(first_value, second_value, node)
        for block, value in ((first_block, first_value), (second_block, second_value)):
            with self.emitter.block(block):
                name = self.arithmetic.convert(value, kind.element, node).name
                self.emitter.line(f"{dialect}.yield {name} : {kind.element.mlir}", node)
        result = self.emitter.branches(
            f"{dialect}.if {condition} -> {kind.element.mlir}", first_block, second_block, node
        )
        return Scalar(result, kind.element, kind.weak)
