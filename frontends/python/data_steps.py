"""Loops over ranges whose step depends on data, as `while` loops: `for i in range(0, n, 2 * h)`."""

from __future__ import annotations

import ast
from collections import Counter

from .captured import MISSING, Captured
from .unused_names import unused_name


class DataSteps(ast.NodeTransformer):
    """Writes loops whose step is a variable that changes, or an element, as `while` loops.

    for i in range(a, n, h):        ->    counter = a; end = n; step = h
        y[i] += 1                         while 0 < step and counter < end or ...:
                                              i = counter
                                              counter += step
                                              y[i] += 1
    """

    def __init__(self, definition: ast.FunctionDef, captured: Captured, taken: set[str]) -> None:
        self.captured = captured
        self.taken = taken
        names = [each for each in ast.walk(definition) if isinstance(each, ast.Name)]
        self._sets = Counter(each.id for each in names if isinstance(each.ctx, ast.Store))
        elements = [
            each.target
            for each in ast.walk(definition)
            if isinstance(each, ast.For) and not self._is_range(each.iter)
        ]
        targets = [one for each in elements for one in ast.walk(each) if isinstance(one, ast.Name)]
        self._elements = {each.id for each in targets}
        self._around: list[str] = []

    def visit_For(self, node: ast.For) -> ast.stmt | list[ast.stmt]:
        """A loop, or the statements that it is."""
        around = len(self._around)
        if isinstance(node.target, ast.Name) and self._is_range(node.iter):
            self._around.append(node.target.id)
        self.generic_visit(node)
        del self._around[around:]
        call = node.iter
        if not isinstance(call, ast.Call) or len(call.args) != 3 or call.keywords:
            return node
        if not self._is_range(call) or not self._changes(call.args[2]):
            return node
        if not isinstance(node.target, ast.Name):
            return node
        counter, end, step = (unused_name(e, self.taken) for e in ("counter", "end", "step"))
        *start, loop = _written(
            f"{counter} = 0\n{end} = 0\n{step} = 0\n"
            f"while (0 < {step} and {counter} < {end}) or ({step} < 0 and {end} < {counter}):\n"
            f"    {node.target.id} = {counter}\n    {counter} += {step}",
            node,
        )
        for statement, value in zip(start, call.args, strict=True):
            assert isinstance(statement, ast.Assign)
            statement.value = value
        assert isinstance(loop, ast.While)
        loop.body += node.body
        loop.orelse = node.orelse
        return [*start, loop]

    def _is_range(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and self.captured.resolve(node.func) is range

    def _changes(self, step: ast.expr) -> bool:
        """Whether a step may be another one each time that the loop is reached."""
        for each in ast.walk(step):
            if isinstance(each, ast.Subscript) and self.captured.resolve(each) is MISSING:
                if not _is_shape(each):
                    return True
            elif isinstance(each, ast.Name) and (
                self._sets[each.id] > 1 or each.id in self._elements or each.id in self._around
            ):
                return True
        return False


def _is_shape(node: ast.Subscript) -> bool:
    return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"


def _written(text: str, old: ast.stmt) -> list[ast.stmt]:
    """New statements at the place of an old one."""
    statements = ast.parse(text).body
    for each in (inner for statement in statements for inner in ast.walk(statement)):
        ast.copy_location(each, old)
    return statements
