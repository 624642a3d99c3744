"""Membership tests among a few values, as comparisons."""

from __future__ import annotations

import ast
from typing import cast

from .captured import SEQUENCES, Captured
from .meanings import copied

_MOST = 64
"""Values: each is a comparison of its own."""


class Memberships(ast.NodeTransformer):
    """Writes `x in (a, b)` as `x == a or x == b`, and `x not in (a, b)` as the opposite."""

    def __init__(self, captured: Captured) -> None:
        self.captured = captured

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """One comparison, which has no others beside it."""
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.In | ast.NotIn):
            return node
        values = self._values(node.comparators[0])
        # Python takes an object to be equal to itself, even where it is not a number.
        if values is None or any(ast.dump(each) == ast.dump(node.left) for each in values):
            return node
        is_in = isinstance(node.ops[0], ast.In)
        compared: list[ast.expr] = [
            ast.Compare(copied(node.left), [ast.Eq() if is_in else ast.NotEq()], [each])
            for each in values
        ]
        whole = (
            ast.BoolOp(ast.Or() if is_in else ast.And(), compared)
            if len(compared) > 1
            else compared[0]
        )
        for each in (whole, *compared):
            ast.copy_location(each, node)
        return ast.fix_missing_locations(whole)

    def _values(self, node: ast.expr) -> list[ast.expr] | None:
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            found = node.elts
        else:
            sequence = self.captured.resolve(node)
            if not isinstance(sequence, SEQUENCES):
                return None
            found = [
                ast.copy_location(ast.Subscript(copied(node), ast.Constant(n), ast.Load()), node)
                for n in range(min(len(cast("list[object]", sequence)), _MOST + 1))
            ]
        return list(found) if 0 < len(found) <= _MOST else None
