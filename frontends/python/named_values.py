"""Assignments inside of expressions, `(v := x)`, as statements before them."""

from __future__ import annotations

import ast
from typing import cast

from .meanings import copied

_OWN_SCOPES = (ast.Lambda, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)


class NamedValues(ast.NodeTransformer):
    """Writes named values as assignments, where they are always evaluated.

        if (v := A[i]) > 0:      ->    v = A[i]
            s += v                     if v > 0:
                                           s += v

    A `while` loop without `continue` computes them again at its end.
    """

    def __init__(self) -> None:
        self._before: list[ast.stmt] = []

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt]:
        """The node, or the statements that it is."""
        if not isinstance(node, ast.stmt) or isinstance(node, ast.FunctionDef):
            return cast(ast.AST, super().visit(node))
        outer, self._before = self._before, []
        found = cast(ast.AST, super().visit(node))
        before, self._before = self._before, outer
        return [*before, cast(ast.stmt, found)] if before else found

    def visit_While(self, node: ast.While) -> ast.While:
        """A loop, whose condition is computed before each iteration."""
        if not any(isinstance(each, ast.Continue) for one in node.body for each in ast.walk(one)):
            node.test = cast(ast.expr, self.visit(node.test))
        again = [copied(each) for each in self._before]
        node.body = [*self._visited(node.body), *again]
        node.orelse = self._visited(node.orelse)
        return node

    def visit_For(self, node: ast.For) -> ast.For:
        """A loop, whose sequence is evaluated once."""
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
        if isinstance(node, ast.Expr | ast.Assign | ast.AugAssign | ast.Return | ast.If) and (
            _reads_before(node.test if isinstance(node, ast.If) else node)
        ):
            return node
        return super().generic_visit(node)

    def _visited(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for each in statements:
            new = self.visit(each)
            found += cast("list[ast.stmt]", new if isinstance(new, list) else [new])
        return found


def _reads_before(node: ast.AST) -> bool:
    """Whether a name is read to the left of its assignment inside of an expression."""
    pieces = list(ast.walk(node))
    first = {
        each.target.id: (each.target.lineno, each.target.col_offset)
        for each in pieces
        if isinstance(each, ast.NamedExpr)
    }
    return any(
        isinstance(each, ast.Name)
        and isinstance(each.ctx, ast.Load)
        and each.id in first
        and (each.lineno, each.col_offset) < first[each.id]
        for each in pieces
    ) or (isinstance(node, ast.AugAssign) and bool(first))
