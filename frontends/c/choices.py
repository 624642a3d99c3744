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
    DataTest,
    Fixed,
    Junction,
    junction,
    negation,
    tests_data,
)
from ..text.guards import Guards
from ..text.repetitions import Repetitions, Truths, affine_first, is_mixed, necessary
from .alternatives import implied, possible, relations_of
from .arithmetic import linear
from .c_types import BOOL, IntegerType, NumberType
from .conditions import Conditions
from .evaluator import Evaluator
from .numbers import number_type
from .tree import Binary, Call, Conditional, Expression, Piece, walk
from .values import Constant, Linear, Scalar, Value, index_of


class Choices:
    """Evaluates conditional expressions."""

    def __init__(self, expressions: Evaluator, conditions: Conditions) -> None:
        self.expressions = expressions
        self.conditions = conditions
        self.emitter = expressions.emitter
        self.repetitions = Repetitions()

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
        node: Piece,
    ) -> Value:
        """One of two values of one type.

        Where the condition is affine, only the accesses of the branch that is taken are made.
        """
        if isinstance(condition, Fixed):
            return one() if condition.value else other()
        self.emitter.require_operations(node, "a conditional expression is not")
        if is_mixed(condition):
            return self._mixed(condition, one, other, kind, node)
        if tests_data(condition):
            return self._by_truth(self.truth(condition, node), one, other, kind, node)
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

    def _by_truth(
        self,
        truth: str,
        one: Callable[[], Value],
        other: Callable[[], Value],
        kind: NumberType,
        node: Piece,
    ) -> Value:
        """One of two values; both are computed, but for those that are not affine in any case."""
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

    def _mixed(
        self,
        condition: Condition,
        one: Callable[[], Value],
        other: Callable[[], Value],
        kind: NumberType,
        node: Piece,
    ) -> Value:
        """One of two values, by a condition on both data and loop variables."""
        with self.repetitions.of(condition, *_weights(node)) as is_guarded:
            if is_guarded:
                return self._guarded(condition, one, other, kind, node)
        truth = self.truth(condition, node)
        yes = partial(self._under, necessary(condition), one, kind, node)
        no = partial(self._under, necessary(negation(condition)), other, kind, node)
        return self._by_truth(truth, yes, no, kind, node)

    def _guarded(
        self,
        condition: Condition,
        one: Callable[[], Value],
        other: Callable[[], Value],
        kind: NumberType,
        node: Piece,
    ) -> Value:
        """One of two values: affine parts guard the accesses of the others."""
        if not is_mixed(condition):
            return self.choose(condition, one, other, kind, node)
        assert isinstance(condition, Junction)
        head, rest = affine_first(condition)
        inner = partial(self._guarded, rest, one, other, kind, node)
        branches = (inner, other) if condition.conjunction else (one, inner)
        return self._guarded(head, *branches, kind, node)

    def _under(
        self,
        conditions: list[Condition],
        value: Callable[[], Value],
        kind: NumberType,
        node: Piece,
    ) -> Value:
        """A value that matters, and is computed, where affine conditions hold."""
        if not conditions:
            return value()
        inner = partial(self._under, conditions[1:], value, kind, node)
        return self.choose(conditions[0], inner, lambda: Constant(0, kind), kind, node)

    # Truth values

    def truth(self, condition: Condition, node: Piece) -> str:
        """The truth value of a condition."""
        return Truths[Piece](self).truth(condition, node)

    @property
    def guards(self) -> Guards[Piece]:
        """The conditions under which elements matter."""
        return self.expressions.guards

    def tested(self, test: DataTest, node: Piece) -> str:
        """A test of data."""
        return self.conditions.tested(test)

    def either(
        self,
        condition: Condition,
        one: Callable[[], str],
        other: Callable[[], str],
        node: Piece,
    ) -> str:
        """One of two truth values, by an affine condition."""
        value = self.choose(
            condition, lambda: Scalar(one(), BOOL), lambda: Scalar(other(), BOOL), BOOL, node
        )
        return self.expressions.arithmetic.scalar(value, node).name

    def fixed(self, value: bool) -> str:
        """A truth value that is known."""
        return self.emitter.constant(str(value).lower(), "i1")

    def _yield(self, value: Value, kind: NumberType, node: Piece, dialect: str = "affine") -> None:
        name = self.expressions.arithmetic.scalar(value, node).name
        self.emitter.line(f"{dialect}.yield {name} : {kind.mlir}", node)


def _weights(node: Piece) -> tuple[int, int]:
    """How much the values of a conditional expression compute."""
    if not isinstance(node, Conditional):
        return 1, 1
    one, other = (
        1 + sum(isinstance(each, Conditional | Call) for each in walk(part))
        for part in (node.one, node.other)
    )
    return one, other


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
