"""`test ? one : other`, minima and maxima."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import cast

from ...dialects.errors import SourceError
from ..text.affine import Affine, Index, set_text
from ..text.conditions import (
    Condition,
    Fixed,
    Junction,
    is_affine,
    junction,
    negation,
    tests_data,
)
from .alternatives import implied, possible, relations_of
from .arithmetic import linear
from .c_types import IntegerType, NumberType
from .conditions import Conditions
from .evaluator import Evaluator
from .numbers import number_type
from .tree import Binary, Conditional, Expression, Piece
from .values import Linear, Scalar, Value, index_of


class Choices:
    """Evaluates conditional expressions."""

    def __init__(self, expressions: Evaluator, conditions: Conditions) -> None:
        self.expressions = expressions
        self.conditions = conditions
        self.emitter = expressions.emitter

    def value(self, node: Conditional) -> Value:
        """The value of a conditional expression; raises SourceError, NotAffine."""
        kind = number_type(node)
        word = _extremum(node)
        if word is not None:
            assert isinstance(kind, IntegerType)
            one = self.expressions.converted(node.one, kind)
            other = self.expressions.converted(node.other, kind)
            return self.expressions.arithmetic.extremum(word, one, other, kind, node)
        condition = self.conditions.condition(node.test)
        index = self._affine(condition, node, kind)
        if index is not None:
            return index
        return self.choose(
            condition,
            partial(self.expressions.converted, node.one, kind),
            partial(self.expressions.converted, node.other, kind),
            kind,
            node,
        )

    def _affine(self, condition: Condition, node: Conditional, kind: NumberType) -> Value | None:
        """The value where both branches are one affine expression, or a minimum or maximum.

        Each branch is looked at where it is taken: `n < 0 ? -((-n + 1) / 2) : n / 2`.
        """
        if not isinstance(kind, IntegerType) or tests_data(condition):
            return None
        domain = self.expressions.domain
        found, inverse = (implied(each, domain) for each in (condition, negation(condition)))
        if not found or not inverse:
            return None
        with domain.inside(found):
            one = self._branch(node.one, kind)
        with domain.inside(inverse):
            other = self._branch(node.other, kind)
        if one is None or other is None:
            return None
        difference = other.plus(one, -1)

        def everywhere(where: list[Affine], expressions: list[Affine]) -> bool:
            with domain.inside(where):
                return all(domain.holds(each, assume=False) for each in expressions)

        either = [difference, difference.times(-1)]
        if everywhere(inverse, either):
            return linear(Index((one,)), kind)
        if everywhere(found, either):
            return linear(Index((other,)), kind)
        for word, sign in (("min", 1), ("max", -1)):
            smaller = difference.times(sign)
            if everywhere(found, [smaller]) and everywhere(inverse, [smaller.times(-1)]):
                return Linear(Index((one, other), word), kind)
        return None

    def _branch(self, node: Expression, kind: NumberType) -> Affine | None:
        found = self.expressions.static(node)
        if found is None:
            return None
        index = index_of(self.expressions.arithmetic.convert(found, kind, node))
        return None if index is None else index.affine

    def choose(
        self,
        condition: Condition,
        one: Callable[[], Value],
        other: Callable[[], Value],
        kind: NumberType,
        node: Expression,
    ) -> Value:
        """One of two values of one type.

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
            inner = partial(self.choose, rest, one, other, kind, node)
            if condition.conjunction:
                return self.choose(head, inner, other, kind, node)
            return self.choose(head, one, inner, kind, node)
        if tests_data(condition):
            truth = self.conditions.truth(condition, node)
            if self.expressions.guards.in_branches:
                with self.emitter.block() as holds:
                    self._yield(one(), kind, node, "scf")
                with self.emitter.block() as rest:
                    self._yield(other(), kind, node, "scf")
                head_text = f"scf.if {truth} -> ({kind.mlir})"
                return Scalar(self.emitter.branches(head_text, holds, rest, node), kind)
            with self.expressions.guards.under(truth, True):
                first = one()
            with self.expressions.guards.under(truth, False):
                second = other()
            return self.expressions.arithmetic.select(truth, first, second, kind, node)
        domain = self.expressions.domain
        found = possible(condition, domain)
        if found is None:
            raise SourceError("the condition has too many alternatives", node.place)
        if not found:
            return other()
        if len(found) > 1:
            inverse = possible(negation(condition), domain)
            if inverse is not None and len(inverse) == 1:
                return self.choose(negation(condition), other, one, kind, node)
            rest = junction(False, [junction(True, each) for each in found[1:]])
            head = junction(True, found[0])
            again = partial(self.choose, rest, one, other, kind, node)
            return self.choose(head, one, again, kind, node)
        with domain.inside(relations_of(found[0])), self.emitter.block() as first:
            self._yield(one(), kind, node)
        opposite = implied(negation(condition), domain)
        with domain.inside(opposite), self.emitter.block() as second:
            self._yield(other(), kind, node)
        constraints = set_text([(each.expression, each.equation) for each in found[0]])
        head_text = f"affine.if {constraints} -> {kind.mlir}"
        return Scalar(self.emitter.branches(head_text, first, second, node), kind)

    def _yield(
        self, value: Value, kind: NumberType, node: Expression, dialect: str = "affine"
    ) -> None:
        name = self.expressions.arithmetic.scalar(value, node).name
        self.emitter.line(f"{dialect}.yield {name} : {kind.mlir}", node)


def _extremum(node: Conditional) -> str | None:
    """`min` for `a < b ? a : b` on integers, `max` for `a > b ? a : b`."""
    test = node.test
    if not isinstance(test, Binary) or test.operator not in ("<", "<=", ">", ">="):
        return None
    if not isinstance(node.type, IntegerType) or test.left.type != node.type:
        return None
    smaller = test.operator in ("<", "<=")
    if same(test.left, node.one) and same(test.right, node.other):
        return "min" if smaller else "max"
    if same(test.left, node.other) and same(test.right, node.one):
        return "max" if smaller else "min"
    return None


def same(one: object, other: object) -> bool:
    """Whether two expressions are written alike."""
    if isinstance(one, Piece) and type(one) is type(other):
        return all(
            same(getattr(one, each.name), getattr(other, each.name))
            for each in fields(one)
            if each.name != "place"
        )
    if isinstance(one, tuple) and isinstance(other, tuple):
        ones, others = cast("tuple[object, ...]", one), cast("tuple[object, ...]", other)
        return len(ones) == len(others) and all(map(same, ones, others))
    return one == other
