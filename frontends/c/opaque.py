"""Loops and stores of C that are not affine: bounds and subscripts that depend on data."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.errors import SourceError
from ..text.data_loops import Head, head
from .c_types import IntegerType
from .expressions import Expressions, root
from .loops import Loops
from .tree import (
    Assignment,
    Expression,
    For,
    Name,
    Statement,
    Subscript,
    Symbol,
    While,
    all_expressions,
    all_statements,
    expressions_of,
    walk,
)

_REACHED = {"<=": "arith.addi", ">=": "arith.subi"}
"""What gives the end behind a bound that the loop reaches."""


class Opaque:
    """Says what is not affine, and the heads of such loops."""

    def __init__(self, expressions: Expressions, loops: Loops) -> None:
        self.expressions = expressions
        self.loops = loops

    def has_data_bounds(self, node: For, symbol: Symbol) -> bool:
        """Whether the bounds of a loop depend on data."""
        first = self.loops.first(node)
        if isinstance(first.type, IntegerType) and self.expressions.static(first) is None:
            return True
        return any(
            isinstance(each.type, IntegerType) and self.expressions.static(each) is None
            for each in self.loops.ends(node.test, symbol)
        )

    def head(self, node: For, symbol: Symbol, name: str) -> Head:
        """The first line of the loop in the text; raises SourceError."""
        first = self.loops.first(node)
        step, operator, bound = self.loops.simple(node, symbol)
        self._check_kept(node, bound)
        gathers, emitter = self.expressions.gathers, self.expressions.emitter
        start, end = gathers.index(first), gathers.index(bound)
        if operator in _REACHED:
            one = emitter.constant("1", "index")
            end = emitter.operation(f"{_REACHED[operator]} {end}, {one} : index", node)
        return head(emitter, name, start, end, step, node)

    def _check_kept(self, node: For, bound: Expression) -> None:
        """C evaluates the bound before each iteration: none may change it."""
        read = {root(each).symbol for each in walk(bound) if isinstance(each, Subscript)}
        read |= {each.symbol for each in walk(bound) if isinstance(each, Name)}
        for each in all_expressions(node.body.statements):
            target = each.target if isinstance(each, Assignment) else None
            name = root(target) if isinstance(target, Subscript) else target
            if isinstance(name, Name) and name.symbol in read:
                raise SourceError(
                    f"the loop may change its bound: it assigns '{name.symbol.name}'",
                    each.place,
                    "keep the bound in a variable",
                )

    def is_needed(self, statements: Sequence[Statement]) -> bool:
        """Whether statements may have parts that must not run where a condition does not hold."""
        for statement in all_statements(statements):
            if isinstance(statement, While):
                return True
            if isinstance(statement, For) and any(
                isinstance(each, Subscript)
                for expression in expressions_of(statement)
                for each in walk(expression)
            ):
                return True
        return any(
            isinstance(each, Assignment)
            and isinstance(each.target, Subscript)
            and self._reads(each.target)
            for each in all_expressions(statements)
        )

    def _reads(self, target: Subscript) -> bool:
        """Whether a subscript may depend on data: an element, or a local variable."""
        node: Expression = target
        while isinstance(node, Subscript):
            for each in walk(node.index):
                if isinstance(each, Subscript):
                    return True
                if isinstance(each, Name) and each in self.expressions.variables.of:
                    return True
            node = node.base
        return False
