"""`if` statements: affine ones as `affine.if`, others by if-conversion."""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from ..text.affine import set_text
from ..text.conditions import (
    Condition,
    Fixed,
    Junction,
    Relation,
    alternatives,
    junction,
    negation,
    tests_data,
)
from ..text.emitter import Emitter
from ..text.repetitions import affine_first, is_mixed, necessary
from .expressions import Expressions
from .opaque import Opaque
from .source import PythonSource
from .values import Scalar, Value, literal

Branch: TypeAlias = Callable[[], None]
"""Emits statements."""


# Of integers and of floating-point numbers: -0.0 also leaves the sign of a zero.
_NEUTRAL: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("0", "-0.0"),
    ast.Sub: ("0", "0.0"),
    ast.Mult: ("1", "1.0"),
}


class Branches:
    """Emits branches; `guard` is the condition on data under which statements store, if any."""

    def __init__(
        self,
        expressions: Expressions,
        source: PythonSource,
        emitter: Emitter[ast.AST],
        opaque: Opaque,
    ) -> None:
        self.expressions = expressions
        self.opaque = opaque
        self.source = source
        self.emitter = emitter
        self.guard: str | None = None

    def emit(self, condition: Condition, one: Branch, other: Branch | None, node: ast.If) -> None:
        """Emits a branch, and the one for the opposite, if there is one; raises SourceError."""
        if isinstance(condition, Fixed):
            chosen = one if condition.value else other
            if chosen is not None:
                chosen()
        elif is_mixed(condition):
            self._mixed(condition, one, other, node)
        elif tests_data(condition):
            self._data_branch(condition, one, other, node)
        else:
            self._affine_branch(condition, one, other, node)

    def _mixed(self, condition: Condition, one: Branch, other: Branch | None, node: ast.If) -> None:
        """A condition on both data and loop variables."""
        weights = (_statements(each) for each in (node.body, node.orelse))
        with self.expressions.choices.repetitions.of(condition, *weights) as is_guarded:
            if is_guarded:
                self._short_circuit(condition, one, other, node)
            else:
                self._data_branch(condition, one, other, node)

    def _short_circuit(
        self, condition: Condition, one: Branch, other: Branch | None, node: ast.If
    ) -> None:
        """Affine parts first: they guard the accesses of the others."""
        if not is_mixed(condition):
            self.emit(condition, one, other, node)
            return
        assert isinstance(condition, Junction)
        head, rest = affine_first(condition)
        inner = partial(self._short_circuit, rest, one, other, node)
        branches = (inner, other) if condition.conjunction else (one, inner)
        self._short_circuit(head, *branches, node)

    def _data_branch(
        self, condition: Condition, one: Branch, other: Branch | None, node: ast.If
    ) -> None:
        """If-conversion: both branches run, and what they store depends on the condition.

        Branches with parts that are not affine stay branches.
        """
        truth = self.expressions.choices.truth(condition, node)
        is_opaque = self.expressions.guards.in_branches
        if is_opaque or self.opaque.is_needed([*node.body, *node.orelse]):
            self.opaque.branch(truth, one, other, node)
            return
        opposite = None
        if other is not None:
            true = self.emitter.constant("true", "i1")
            opposite = self.emitter.operation(f"arith.xori {truth}, {true} : i1", node)
        for branch, guard, holds in (
            (one, truth, condition),
            (other, opposite, negation(condition)),
        ):
            if branch is not None:
                around = self.guard
                if around is not None:
                    guard = self.emitter.operation(f"arith.andi {around}, {guard} : i1", node)
                self.guard = guard
                with self.expressions.guards.under(truth, branch is one):
                    self._where(necessary(holds), branch, node)
                self.guard = around

    def _where(self, conditions: list[Condition], branch: Branch, node: ast.If) -> None:
        """A branch under affine conditions, which are necessary for it: they guard accesses."""
        if not conditions:
            branch()
            return
        rest = partial(self._where, conditions[1:], branch, node)
        self._affine_branch(conditions[0], rest, None, node)

    def guarded(
        self, value: str, element: str, kind: str, node: ast.AST, dialect: str = "affine"
    ) -> str:
        """What is stored: the value, or under a condition on data what is there already."""
        if self.guard is None:
            return value
        old = self.emitter.operation(f"{dialect}.load {element}", node)
        return self.emitter.operation(f"arith.select {self.guard}, {value}, {old} : {kind}", node)

    def neutral(self, op: type[ast.operator], value: Value, node: ast.stmt) -> Scalar | None:
        """The second operand of an update under a condition: neutral where that does not hold.

        So `if A[i] > 0: s += A[i]` stays a sum. None where nothing is neutral.
        """
        if self.guard is None or op not in _NEUTRAL:
            return None
        arithmetic = self.expressions.arithmetic
        scalar = arithmetic.scalar(value, node)
        if scalar.element.is_complex:
            return None
        text = _NEUTRAL[op][scalar.element.is_float]
        if scalar.element.is_truth:
            text = literal(int(text), scalar.element)
        nothing = Scalar(self.emitter.constant(text, scalar.element.mlir), scalar.element)
        return replace(arithmetic.select(self.guard, scalar, nothing, node), weak=scalar.weak)

    @contextmanager
    def unguarded(self) -> Generator[None]:
        """Meanwhile, statements store under any condition."""
        guard, self.guard = self.guard, None
        try:
            yield
        finally:
            self.guard = guard

    def _affine_branch(
        self, condition: Condition, one: Branch, other: Branch | None, node: ast.If
    ) -> None:
        found = alternatives(condition)
        inverse = alternatives(negation(condition))
        if found is None:
            raise self.source.error(node.test, "the condition has too many alternatives")
        if len(found) > 1 and inverse is not None and len(inverse) == 1:
            found, one, other = inverse, other or _nothing, one
        constraints = set_text([(r.expression, r.equation) for r in found[0]])
        with self.emitter.block() as first, self._under(found[0]):
            one()
        opposite = alternatives(negation(junction(True, found[0])))
        certain = opposite[0] if opposite is not None and len(opposite) == 1 else ()
        with self.emitter.block() as second, self._under(certain):
            if len(found) > 1:
                rest = junction(False, [junction(True, each) for each in found[1:]])
                self.emit(rest, one, other, node)
            elif other is not None:
                other()
        if not second.lines:
            self.emitter.nest(f"affine.if {constraints}", first, node)
            return
        self.emitter.nests(f"affine.if {constraints}", first, "} else {", second, node)

    @contextmanager
    def _under(self, relations: tuple[Relation, ...]) -> Generator[None]:
        """Meanwhile, these relations hold."""
        conditions = self.expressions.accesses.conditions
        before = len(conditions)
        for each in relations:
            conditions.append(each.expression)
            if each.equation:
                conditions.append(each.expression.times(-1))
        try:
            yield
        finally:
            del conditions[before:]


def _statements(body: list[ast.stmt]) -> int:
    """How many statements a body has, with those inside of others."""
    return sum(isinstance(each, ast.stmt) for node in body for each in ast.walk(node))


def _nothing() -> None:
    """An empty branch."""
