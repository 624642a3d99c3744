"""Lists whose length is known when the function is translated, written out."""

from __future__ import annotations

import ast
import builtins
from typing import cast

from .captured import Captured
from .loop_forms import Substitution, place_at
from .meanings import copied

_MOST = 64
"""Elements of a list that is written out."""


class ConstantLists(ast.NodeTransformer):
    """Writes out repeated lists, and those of a comprehension over constants.

    w = [1.0 / (k + 1) for k in range(3)]   ->   w = [1.0 / (0 + 1), 1.0 / (1 + 1), 1.0 / (2 + 1)]
    w = [0.5] * 3                           ->   w = [0.5, 0.5, 0.5]
    """

    def __init__(self, captured: Captured) -> None:
        self.captured = captured

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        """A comprehension; one over other sequences stays as it is."""
        self.generic_visit(node)
        loop = node.generators[0]
        values = self._values(loop.iter)
        if len(node.generators) != 1 or loop.ifs or values is None or len(values) > _MOST:
            return node
        if not isinstance(loop.target, ast.Name):
            return node
        parts: list[ast.expr] = []
        for each in values:
            meaning = Substitution({loop.target.id: each})
            parts.append(cast(ast.expr, meaning.visit(copied(node.elt))))
        return ast.copy_location(ast.List(parts, ast.Load()), node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """A list times a number."""
        self.generic_visit(node)
        for part, count in ((node.left, node.right), (node.right, node.left)):
            times = self._integer(count)
            if not isinstance(node.op, ast.Mult) or not isinstance(part, ast.List) or not times:
                continue
            if 0 < times * len(part.elts) <= _MOST:
                parts = [copied(each) for _ in range(times) for each in part.elts]
                return ast.copy_location(ast.List(parts, ast.Load()), node)
        return node

    def _values(self, node: ast.expr) -> list[ast.expr] | None:
        """The elements of a sequence of numbers."""
        if isinstance(node, ast.Tuple | ast.List):
            return list(node.elts)
        if not isinstance(node, ast.Call) or self.captured.resolve(node.func) is not builtins.range:
            return None
        bounds = [self._integer(each) for each in node.args]
        known = [each for each in bounds if each is not None]
        if node.keywords or len(known) != len(bounds) or not known or known[2:] == [0]:
            return None
        parsed = (ast.parse(str(each), mode="eval").body for each in range(*known)[: _MOST + 1])
        return [place_at(each, node) for each in parsed]

    def _integer(self, node: ast.expr) -> int | None:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = self._integer(node.operand)
            return None if inner is None else -inner
        found = node.value if isinstance(node, ast.Constant) else self.captured.resolve(node)
        return found if type(found) is int else None
