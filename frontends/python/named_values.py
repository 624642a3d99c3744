"""Assignments inside of expressions, `(v := x)`, as statements before them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import cast

from .hoisting import Hoisting
from .meanings import copied

_OWN_SCOPES = (ast.Lambda, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)


class NamedValues(Hoisting, ast.NodeTransformer):
    """Writes named values as assignments, where they are always evaluated.

        if (v := A[i]) > 0:      ->    v = A[i]
            s += v                     if v > 0:
                                           s += v

    A `while` loop without `continue` computes them again at its end.
    """

    def visit_While(self, node: ast.While) -> ast.While:
        """A loop, whose condition is computed before each iteration."""
        pieces = (each for one in node.body for each in ast.walk(one))
        if not _is_read_before(node.test) and not any(
            isinstance(each, ast.Continue) for each in pieces
        ):
            node.test = cast(ast.expr, self.visit(node.test))
        again = [copied(each) for each in self._before]
        node.body = [*self._visited(node.body), *again]
        node.orelse = self._visited(node.orelse)
        return node

    def visit_For(self, node: ast.For) -> ast.For:
        """A loop, whose sequence is evaluated once."""
        if not _is_read_before(node.iter):
            node.iter = cast(ast.expr, self.visit(node.iter))
        node.body, node.orelse = self._visited(node.body), self._visited(node.orelse)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.BoolOp:
        """`and`, `or`: only the first operand is always evaluated."""
        node.values[0] = cast(ast.expr, self.visit(node.values[0]))
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.IfExp:
        """A choice: only its condition is always evaluated."""
        node.test = cast(ast.expr, self.visit(node.test))
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.Compare:
        """A comparison: in a chain, all but the first may be left out."""
        node.left = cast(ast.expr, self.visit(node.left))
        node.comparators[0] = cast(ast.expr, self.visit(node.comparators[0]))
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        """The name, with its assignment before the statement."""
        value = cast(ast.expr, self.visit(node.value))
        assigned = ast.Assign([node.target], value)
        self._before.append(ast.copy_location(assigned, node))
        return ast.copy_location(ast.Name(node.target.id, ast.Load()), node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """What has names of its own, or reads a name before it is assigned, stays as it is."""
        if isinstance(node, _OWN_SCOPES):
            return node
        if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef):
            evaluated = node.test if isinstance(node, ast.If) else node
            if _is_read_before(evaluated):
                return node
        return super().generic_visit(node)

    def _visited(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for each in statements:
            new = self.visit(each)
            found += cast("list[ast.stmt]", new if isinstance(new, list) else [new])
        return found


def _is_read_before(node: ast.AST) -> bool:
    """Whether a name is read before an assignment to it inside of an expression."""
    read: set[str] = set()
    for each in _evaluated(node):
        if isinstance(each, ast.NamedExpr):
            inside = (one for one in ast.walk(each) if isinstance(one, ast.NamedExpr))
            if any(one.target.id in read for one in inside) or _is_read_before(each.value):
                return True
            read.add(each.target.id)
        elif isinstance(each, ast.Name):
            read.add(each.id)
    return False


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """The pieces of an expression or assignment in the order in which Python evaluates them."""
    yield node
    if isinstance(node, ast.NamedExpr):
        return  # what is inside moves with it
    parts: Iterable[ast.AST] = ast.iter_child_nodes(node)
    if isinstance(node, ast.Assign):
        parts = (node.value, *node.targets)
    elif isinstance(node, ast.IfExp):
        parts = (node.test, node.body, node.orelse)
    for each in parts:
        yield from _evaluated(each)
