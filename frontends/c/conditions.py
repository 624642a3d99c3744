"""Conditions of C: affine relations and tests of data."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..text.affine import Affine, Index
from ..text.conditions import (
    Condition,
    DataTest,
    Fixed,
    junction,
    negation,
    not_negative,
    tests_data,
    zero,
)
from .alternatives import implied
from .arithmetic import PREDICATES, SWAPPED
from .c_types import FloatType, IntegerType
from .calls import Calls
from .evaluator import Evaluator
from .functions import known
from .tree import Binary, Call, Cast, Expression, Unary
from .values import Constant, Linear, Scalar, index_of

_OPERATOR: Any = operator

_FOLDED: dict[str, Callable[[Any, Any], bool]] = {
    symbol: getattr(_OPERATOR, name) for symbol, name in PREDICATES.items()
}


class Conditions:
    """Evaluates conditions."""

    def __init__(self, expressions: Evaluator, calls: Calls) -> None:
        self.expressions = expressions
        self.calls = calls

    def condition(self, node: Expression) -> Condition:
        """A condition, without emitting anything; raises SourceError."""
        if isinstance(node, Binary) and (
            node.operator in ("&&", "||")
            or (node.operator in ("&", "|") and _is_truth(node.left) and _is_truth(node.right))
        ):
            conjunction = node.operator in ("&&", "&")
            left = self.condition(node.left)
            # The left side guards the right one, such as an element in its row of a flat array.
            where = left if conjunction else negation(left)
            known = [] if tests_data(where) else implied(where, self.expressions.domain)
            with self.expressions.domain.inside(known):
                return junction(conjunction, [left, self.condition(node.right)])
        if isinstance(node, Unary) and node.operator == "!":
            return negation(self.condition(node.operand))
        if isinstance(node, Cast) and _keeps_truth(node):
            return self.condition(node.operand)
        if isinstance(node, Binary) and node.operator in PREDICATES:
            return self._comparison(node)
        found = self.expressions.static(node)
        if isinstance(found, Constant):
            return Fixed(found.value != 0)
        if isinstance(found, Linear):
            return negation(zero(found.index))
        return DataTest(node)

    def _comparison(self, node: Binary) -> Condition:
        left, right = self.expressions.static(node.left), self.expressions.static(node.right)
        if left is None or right is None:
            return DataTest(node)
        if isinstance(left, Constant) and isinstance(right, Constant):
            return Fixed(_FOLDED[node.operator](left.value, right.value))
        one, other = index_of(left), index_of(right)
        if one is None or other is None:
            return DataTest(node)
        return compared(node.operator, one, other) or DataTest(node)

    def tested(self, test: DataTest) -> str:
        """The truth value of a test of data."""
        name = self._test(test.subject)
        return self.inverse(name, test.subject) if test.negated else name

    def inverse(self, truth: str, node: Expression) -> str:
        """The opposite of a truth value."""
        emitter = self.expressions.emitter
        true = emitter.constant("true", "i1")
        return emitter.operation(f"arith.xori {truth}, {true} : i1", node)

    def _test(self, node: Expression) -> str:
        arithmetic = self.expressions.arithmetic
        if isinstance(node, Binary) and node.operator in PREDICATES:
            one, other = (
                arithmetic.scalar(self.expressions.value(each), each)
                for each in (node.left, node.right)
            )
            return arithmetic.compare(node.operator, one, other, node)
        if isinstance(node, Call):
            function = known(node.function)
            if function is not None and function.is_test:
                return self.calls.test(node, function)
        scalar = arithmetic.scalar(self.expressions.value(node), node)
        if scalar.type.width == 1:
            return scalar.name
        nothing = Constant(0.0 if isinstance(scalar.type, FloatType) else 0, scalar.type)
        zero_value: Scalar = arithmetic.scalar(nothing, node)
        return arithmetic.compare("!=", scalar, zero_value, node)


def compared(operator: str, one: Index, other: Index) -> Condition | None:
    """A comparison of affine integers; None where minima and maxima are mixed."""
    if operator in ("==", "!="):
        difference = one.plus(other, -1)
        if difference is None:
            return None
        return zero(difference) if operator == "==" else negation(zero(difference))
    if operator in (">", ">="):
        one, other, operator = other, one, SWAPPED[operator]
    difference = other.plus(one, -1)
    if difference is None:
        return None
    if operator == "<":
        difference = difference.plus(Index((Affine(constant=1),)), -1)
        assert difference is not None
    return not_negative(difference)


def _is_truth(node: Expression) -> bool:
    """Whether a number is 1 or 0 by its form, as in `(i > 0) & (j > 0)`."""
    if isinstance(node, Unary):
        return node.operator == "!"
    if isinstance(node, Cast):
        return _keeps_truth(node) and _is_truth(node.operand)
    if not isinstance(node, Binary):
        return False
    if node.operator in ("&", "|"):
        return _is_truth(node.left) and _is_truth(node.right)
    return node.operator in ("&&", "||") or node.operator in PREDICATES


def _keeps_truth(node: Cast) -> bool:
    """Whether a conversion of an integer keeps whether it is zero."""
    source, target = node.operand.type, node.type
    if not isinstance(source, IntegerType) or not isinstance(target, IntegerType):
        return False
    return target.width == 1 or target.width >= source.width
