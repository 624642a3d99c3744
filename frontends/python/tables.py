"""Lists that functions read elements of: `w = [1.0, 2.0, 1.0]`, then `w[k]`."""

from __future__ import annotations

import ast

from .meanings import meant

TABLE = object()
"""What makes an array of a list, as a function."""


class Tables(ast.NodeTransformer):
    """Writes lists as arrays where all that is done with them is to read elements.

        w = [1.0, 2.0]    ->    w = TABLE([1.0, 2.0])

    A list is no array elsewhere: `w + w` has twice its elements.
    """

    def __init__(self, definition: ast.FunctionDef) -> None:
        self.uses: dict[str, list[ast.Name]] = {}
        self.parents: dict[int, ast.AST] = {}
        for each in ast.walk(definition):
            self.parents.update((id(child), each) for child in ast.iter_child_nodes(each))
            if isinstance(each, ast.Name):
                self.uses.setdefault(each.id, []).append(each)

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        """An assignment of a list to a name."""
        target = node.targets[0]
        if not isinstance(node.value, ast.List) or not isinstance(target, ast.Name):
            return node
        others = [each for each in self.uses[target.id] if each is not target]
        if len(node.targets) == 1 and all(self._reads(each, node.value) for each in others):
            function = ast.copy_location(meant("list", TABLE), node.value)
            node.value = ast.copy_location(ast.Call(function, [node.value], []), node.value)
        return node

    def _reads(self, use: ast.Name, value: ast.expr) -> bool:
        """Whether a use takes a number out of a list, of lists perhaps, or asks for a length."""
        place: ast.AST = use
        while isinstance(value, ast.List) and value.elts:
            parent = self.parents[id(place)]
            if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name):
                return parent.func.id == "len"
            if not isinstance(parent, ast.Subscript) or parent.value is not place:
                return False
            if isinstance(parent.slice, ast.Slice) or not isinstance(parent.ctx, ast.Load):
                return False
            place, value = parent, value.elts[0]
        return place is not use
