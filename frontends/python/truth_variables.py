"""Local variables that are true or false, as integers that are 1 or 0."""

from __future__ import annotations

import ast
from collections.abc import Iterator


class TruthVariables(ast.NodeTransformer):
    """Writes variables that only conditions ask for as integers.

        large = A[i] > 0.5              ->    large = 1 if A[i] > 0.5 else 0
        if large and not found:               if large != 0 and not found != 0:

    Arithmetic with them is left to be refused: NumPy's sum of two truths is one.
    """

    def __init__(self, definition: ast.FunctionDef) -> None:
        self.names = _truth_variables(definition)

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        """An assignment to a variable, or of one to an element."""
        target = node.targets[0]
        if isinstance(node.value, ast.Name) and isinstance(target, ast.Subscript):
            node.targets = [self.visit(each) for each in node.targets]
            return node  # the integer itself
        self.generic_visit(node)
        if isinstance(target, ast.Name) and target.id in self.names:
            one, zero, test = ast.Constant(1), ast.Constant(0), node.value
            value = ast.IfExp(test, one, zero)
            if isinstance(test, ast.Constant):
                value = one if test.value else zero
            node.value = _placed(value, node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """A variable in a condition."""
        if node.id not in self.names or not isinstance(node.ctx, ast.Load):
            return node
        return _placed(ast.Compare(node, [ast.NotEq()], [ast.Constant(0)]), node)


def _placed(new: ast.expr, old: ast.AST) -> ast.expr:
    return ast.fix_missing_locations(ast.copy_location(new, old))


def _truth_variables(definition: ast.FunctionDef) -> set[str]:
    """The variables that only truth values are assigned to, and that only conditions ask for."""
    arguments = {each.arg for each in ast.walk(definition) if isinstance(each, ast.arg)}
    stored: dict[str, list[ast.expr | None]] = {}
    plain: set[int] = set()
    for node in ast.walk(definition):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name):
                stored.setdefault(target.id, []).append(node.value)
                plain.add(id(target))
    for node in ast.walk(definition):  # as the variable of a loop, or in `+=`
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in plain:
            stored.setdefault(node.id, []).append(None)
    names = set(stored) - arguments
    while True:
        asked = {id(each) for each in _asked(definition, names)}
        kept = {
            name
            for name in names
            if all(value is not None and _is_truth(value, names) for value in stored[name])
            and all(
                id(each) in asked
                for each in ast.walk(definition)
                if isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Load)
            )
        }
        if kept == names:
            return names
        names = kept


def _is_truth(node: ast.expr, names: set[str]) -> bool:
    match node:
        case ast.Constant(value=bool()) | ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.BoolOp(values=values):
            return all(_is_truth(each, names) for each in values)
        case ast.Name(id=name):
            return name in names
        case _:
            return False


def _asked(definition: ast.FunctionDef, names: set[str]) -> Iterator[ast.Name]:
    """Where a variable is a condition, or is assigned to an element or another such variable."""
    for node in ast.walk(definition):
        match node:
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                yield from _parts(test)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in names:
                yield from _parts(value)
            case ast.Assign(targets=[ast.Subscript()], value=ast.Name() as value):
                yield value
            case _:
                pass


def _parts(node: ast.expr) -> Iterator[ast.Name]:
    """The variables that a condition is made of by `and`, `or`, `not`."""
    match node:
        case ast.Name():
            yield node
        case ast.BoolOp(values=values):
            for each in values:
                yield from _parts(each)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _parts(operand)
        case _:
            pass
