"""What is written inside of an expression, as statements before the one that it is in."""

from __future__ import annotations

import ast
from typing import cast


class Hoisting(ast.NodeTransformer):
    """A rewriting whose methods leave in `_before` what is to stand before their statement."""

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
