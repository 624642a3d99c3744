"""Statements of Python that are not affine: `while`, loops over data, stores at such subscripts."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from ..text.conditions import Condition, Fixed, tests_data
from ..text.data_loops import head
from ..text.emitter import Emitter
from .element_types import i64
from .expressions import Expressions
from .refused_statements import ELSE
from .source import PythonSource
from .values import Scalar

Body = Callable[[], None]
"""Emits statements."""


class Opaque:
    """Emits what is one statement, whose accesses are not known, for all that comes after."""

    def __init__(
        self, expressions: Expressions, source: PythonSource, emitter: Emitter[ast.AST]
    ) -> None:
        self.expressions = expressions
        self.source = source
        self.emitter = emitter

    def is_data_range(self, node: ast.expr) -> bool:
        """Whether a `range` has bounds that depend on data."""
        return isinstance(node, ast.Call) and any(
            self.expressions.gathers.reads(each) and self.expressions.static(each) is None
            for each in node.args[:2]
        )

    def loop(self, node: ast.For, name: str, body: Body) -> None:
        """A loop with bounds that depend on data; raises SourceError."""
        assert isinstance(node.iter, ast.Call)
        arguments = node.iter.args
        step = 1
        if len(arguments) == 3:
            written = self.expressions.affine(arguments[2], "a step")
            step = written.constant
            if written.terms or step == 0:
                raise self.source.error(
                    arguments[2],
                    "a loop over data counts by a constant other than 0",
                )
        bounds = [self.expressions.gathers.index(each, "a bound") for each in arguments[:2]]
        if len(bounds) == 1:
            bounds.insert(0, self.emitter.constant("0", "index"))
        names = self.expressions.names
        first = head(self.emitter, name, bounds[0], bounds[1], step, node)
        with self.emitter.block() as block:
            index = first.index(self.emitter, node)
            number = self.emitter.operation(f"arith.index_cast {index} : index to i64", node)
            names[name] = Scalar(number, i64, weak=True)
            body()
        del names[name]
        self.expressions.left_loops.add(name)
        self.emitter.nest(first.line, block, node)

    def repeat(self, node: ast.While, body: Body) -> None:
        """A `while` loop; raises SourceError."""
        if node.orelse:
            raise self.source.error(node.orelse[0], *ELSE)
        with self.expressions.guards.in_opaque():
            condition = self.expressions.condition(node.test)
            with self.emitter.block() as before:
                truth = self._truth(condition, node.test)
                self.emitter.line(f"scf.condition({truth})", node)
            with self.emitter.block() as after:
                body()
            after.releases.append(("scf.yield", node))
        self.emitter.nests("scf.while () : () -> ()", before, "} do {", after, node)

    def _truth(self, condition: Condition, node: ast.expr) -> str:
        if not isinstance(condition, Fixed) and not tests_data(condition):
            raise self.source.error(
                node, "the condition of 'while' compares sizes alone", "write a `for` loop"
            )
        return self.expressions.choices.truth(condition, node)

    def branch(self, truth: str, one: Body, other: Body | None, node: ast.If) -> None:
        """A branch that runs where a condition on data holds, and only then."""
        with self.emitter.block() as first:
            one()
        with self.emitter.block() as second:
            if other is not None:
                other()
        if not second.lines and not second.allocations:
            self.emitter.nest(f"scf.if {truth}", first, node)
            return
        self.emitter.nests(f"scf.if {truth}", first, "} else {", second, node)

    def is_needed(self, statements: Iterable[ast.stmt]) -> bool:
        """Whether statements may have parts that must not run where a condition does not hold."""
        for each in (inner for statement in statements for inner in ast.walk(statement)):
            if isinstance(each, ast.While):
                return True
            if isinstance(each, ast.For) and self._reads(each.iter):
                return True
            if (
                isinstance(each, ast.Subscript)
                and isinstance(each.ctx, ast.Store)
                and self._reads(each.slice)
            ):
                return True
        return False

    def _reads(self, node: ast.expr) -> bool:
        """Whether an expression may depend on data: an element, or a local variable."""
        return any(
            isinstance(each, ast.Subscript)
            or (isinstance(each, ast.Name) and each in self.expressions.variables)
            or (isinstance(each, ast.expr) and self.expressions.is_data(each))
            for each in ast.walk(node)
        )
