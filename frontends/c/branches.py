"""`if` statements of C: affine ones as `affine.if`, others by if-conversion."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from ...dialects.errors import SourceError
from ..text.affine import set_text
from ..text.conditions import Condition, Fixed, Junction, junction, negation, tests_data
from ..text.emitter import Emitter
from ..text.repetitions import affine_first, is_mixed, necessary
from .alternatives import possible, relations_of
from .expressions import Expressions
from .opaque import Opaque
from .tree import If, Piece, all_statements

Branch: TypeAlias = Callable[[], None]
"""Emits statements."""


class Branches:
    """Emits branches; `guards` are the conditions on data under which statements store."""

    def __init__(self, expressions: Expressions, opaque: Opaque) -> None:
        self.expressions = expressions
        self.emitter: Emitter[Piece] = expressions.emitter
        self.opaque = opaque
        self.guards: list[str] = []

    def emit(self, condition: Condition, one: Branch, other: Branch | None, node: If) -> None:
        """Emits a branch, and the one for the opposite, if there is one; raises SourceError."""
        if isinstance(condition, Fixed):
            chosen = one if condition.value else other
            if chosen is not None:
                chosen()
        elif is_mixed(condition):
            self._mixed(condition, one, other, node)
        elif tests_data(condition):
            self._predicated(condition, one, other, node)
        else:
            self._affine_branch(condition, one, other, node)

    def _mixed(self, condition: Condition, one: Branch, other: Branch | None, node: If) -> None:
        """A condition on both data and loop variables."""
        weights = (
            sum(1 for _ in all_statements(each.statements)) for each in (node.one, node.other)
        )
        with self.expressions.choices.repetitions.of(condition, *weights) as is_guarded:
            if is_guarded:
                self._short_circuit(condition, one, other, node)
            else:
                self._predicated(condition, one, other, node)

    def _short_circuit(
        self, condition: Condition, one: Branch, other: Branch | None, node: If
    ) -> None:
        """Affine parts first: they guard the accesses of the other parts, and of the branches.

        if (i > 0 && A[i - 1] > 0) ...   ->   if (i > 0) if (A[i - 1] > 0) ...
        """
        if not is_mixed(condition):
            self.emit(condition, one, other, node)
            return
        assert isinstance(condition, Junction)
        head, rest = affine_first(condition)
        inner = partial(self._short_circuit, rest, one, other, node)
        branches = (inner, other) if condition.conjunction else (one, inner)
        self._short_circuit(head, *branches, node)

    def _affine_branch(
        self, condition: Condition, one: Branch, other: Branch | None, node: If
    ) -> None:
        domain = self.expressions.domain
        found, inverse = possible(condition, domain), possible(negation(condition), domain) or []
        if found is None:
            raise SourceError("the condition has too many alternatives", node.test.place)
        if not found:
            if other is not None:
                other()
            return
        if len(found) > 1 and len(inverse) == 1:
            one, other = other or _nothing, one
            found, inverse = inverse, found
        with domain.inside(relations_of(found[0])), self.emitter.block() as first:
            one()
        opposite = relations_of(inverse[0]) if len(inverse) == 1 else []
        with domain.inside(opposite), self.emitter.block() as second:
            if len(found) > 1:
                rest = junction(False, [junction(True, each) for each in found[1:]])
                self._affine_branch(rest, one, other, node)
            elif other is not None:
                other()
        constraints = set_text([(each.expression, each.equation) for each in found[0]])
        if not second.lines:
            self.emitter.nest(f"affine.if {constraints}", first, node)
            return
        self.emitter.nests(f"affine.if {constraints}", first, "} else {", second, node)

    def _predicated(
        self, condition: Condition, one: Branch, other: Branch | None, node: If
    ) -> None:
        """If-conversion: what depends on data is always stored, the old value where it is false."""
        truth = self.expressions.choices.truth(condition, node.test)
        if self.expressions.guards.in_branches or self.opaque.is_needed(
            [*node.one.statements, *node.other.statements]
        ):
            self._kept_branch(truth, one, other, node)
            return
        for branch, holds in ((one, True), (other, False)):
            if branch is None:
                continue
            guard = truth if holds else self.expressions.conditions.inverse(truth, node.test)
            if self.guards:
                text = f"arith.andi {self.guards[-1]}, {guard} : i1"
                guard = self.emitter.operation(text, node)
            self.guards.append(guard)
            with self.expressions.guards.under(truth, holds):
                self._under(necessary(condition if holds else negation(condition)), branch, node)
            self.guards.pop()

    def _under(self, conditions: list[Condition], branch: Branch, node: If) -> None:
        """A branch under affine conditions, which are necessary for it: they guard accesses."""
        if not conditions:
            branch()
            return
        rest = partial(self._under, conditions[1:], branch, node)
        self._affine_branch(conditions[0], rest, None, node)

    def _kept_branch(self, truth: str, one: Branch, other: Branch | None, node: If) -> None:
        """What must not run where the condition does not hold stays in a branch."""
        with self.emitter.block() as first:
            one()
        with self.emitter.block() as second:
            if other is not None:
                other()
        if not second.lines and not second.allocations:
            self.emitter.nest(f"scf.if {truth}", first, node)
            return
        self.emitter.nests(f"scf.if {truth}", first, "} else {", second, node)


def _nothing() -> None:
    """An empty branch."""
