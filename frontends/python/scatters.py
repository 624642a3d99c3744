"""Assignments at an array of subscripts: `A[J] = B`, `A[J] += B`, and `np.add.at(A, J, B)`.

NumPy computes the right side before it stores anything, then stores in the order of the subscripts:
of equal ones the last wins, and `+=` adds once. `np.add.at` adds for each.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np

from .branches import Branches
from .gathers import subscripts
from .reductions import Reductions
from .views import View, broadcast, same, spelled_shape

_ACCUMULATING: Mapping[Any, type[ast.operator]] = {
    np.add.at: ast.Add,
    np.subtract.at: ast.Sub,
    np.multiply.at: ast.Mult,
}


class Scatters:
    """Emits loops over the subscripts."""

    def __init__(self, reductions: Reductions, branches: Branches) -> None:
        self.reductions = reductions
        self.branches = branches
        self.expressions = reductions.expressions
        self.source = reductions.source
        self.emitter = reductions.emitter

    def assign(self, target: ast.expr, node: ast.Assign | ast.AugAssign) -> bool:
        """Emits an assignment, if it is one; raises SourceError."""
        if not isinstance(target, ast.Subscript):
            return False
        base = self._base(target)
        if base is None:
            return False
        value, operator = node.value, None
        if isinstance(node, ast.AugAssign) and not any(
            map(self.expressions.shape, subscripts(target))
        ):
            operator = type(node.op)  # no element comes twice
        elif isinstance(node, ast.AugAssign):
            value = ast.copy_location(ast.BinOp(target, node.op, value), node.value)
        self._store(target, base, value, operator, node)
        return True

    def accumulate(self, node: ast.expr) -> bool:
        """Emits a call such as `np.add.at(A, J, B)`, if it is one; raises SourceError."""
        if not isinstance(node, ast.Call) or node.keywords or len(node.args) != 3:
            return False
        found = self.expressions.captured.resolve(node.func)
        operator = next((each for name, each in _ACCUMULATING.items() if name == found), None)
        array, subscripts, value = node.args
        target = ast.copy_location(ast.Subscript(array, subscripts, ast.Store()), node)
        base = None if operator is None else self._base(target)
        if base is None:
            return False
        self._store(target, base, value, operator, node)
        return True

    def _base(self, target: ast.Subscript) -> View | None:
        """The array, where what its subscripts choose is an array."""
        base = self.expressions.gathers.base(target)
        return base if base is not None and self.expressions.shape(target) else None

    def _store(
        self,
        target: ast.Subscript,
        base: View,
        value: ast.expr,
        operator: type[ast.operator] | None,
        node: ast.stmt | ast.expr,
    ) -> None:
        expressions = self.expressions
        for each in (value, *subscripts(target)):
            self.reductions.compute(each, whole=False)
            self._hold(each, base)
        shape, given = expressions.shape(target), expressions.shape(value)
        joined = broadcast(shape, given)
        if joined is None or len(joined) != len(shape) or not all(map(same, joined, shape)):
            raise self.source.error(
                value,
                f"an array of shape {spelled_shape(given)} does not fit the shape "
                f"{spelled_shape(shape)} of '{ast.unparse(target)}'",
                "give equal extents the same name in the annotations",
            )
        nests = self.reductions.nests
        point, loops = nests.variables(shape)
        with self.emitter.block() as body, expressions.at(point):
            number = expressions.number(value)
            place = expressions.gathers.place(target, base)
            if operator is not None:
                before = expressions.accesses.loaded(f"memref.load {place}", base, node)
                number = expressions.arithmetic.binary(operator, before, number, node)
            load = f"memref.load {place}"
            stored = expressions.accesses.stored(number, base, target, value, load)
            kind = base.array.type.element.mlir
            stored = self.branches.guarded(stored, place, kind, node, "memref")
            self.emitter.line(f"memref.store {stored}, {place}", node)
        nests.around(body, loops, node)

    def _hold(self, node: ast.expr, base: View) -> None:
        """Computes an expression before the loops, where it reads what they write."""
        expressions = self.expressions
        views = (expressions.view(each) for each in ast.walk(node) if isinstance(each, ast.Name))
        if not any(each is not None and each.array == base.array for each in views):
            return
        if expressions.shape(node):
            expressions.computed[node] = self.reductions.arrays.holding("old", node)
        else:
            with expressions.at(()):
                expressions.computed[node] = expressions.value(node)
