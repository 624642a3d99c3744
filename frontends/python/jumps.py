"""`continue`, `break` and an early `return`, as branches and loops with a condition."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence

from .captured import Captured


class Jumps(ast.NodeTransformer):
    """Writes what follows a jump as the other branch of its condition.

        for i in range(n):              ->    for i in range(n):
            if A[i] < 0:                          if A[i] < 0:
                continue                              pass
            B[i] = A[i]                           else:
                                                      B[i] = A[i]

    A loop that ends with `break` is a `while` loop, with a variable that says whether it goes on.
    """

    def __init__(self, captured: Captured, taken: set[str], definition: ast.FunctionDef) -> None:
        self.captured = captured
        self.taken = taken
        self.definition = definition

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """The function: statements behind `if ...: return` are the other branch."""
        self.generic_visit(node)
        if not any(isinstance(each, ast.Return) and each.value for each in ast.walk(node)):
            node.body = folded(node.body, ast.Return, ())
        return node

    def visit_For(self, node: ast.For) -> ast.stmt | list[ast.stmt]:
        """A loop without `continue`; one with `break` is a `while` loop, where it can be."""
        self.generic_visit(node)
        node.body = folded(node.body, ast.Continue, ())
        steps = self._steps(node) if _may_end(node) else None
        return node if steps is None else self._as_while(node, *steps)

    def visit_While(self, node: ast.While) -> ast.stmt | list[ast.stmt]:
        """A loop without `continue` and `break`."""
        self.generic_visit(node)
        node.body = folded(node.body, ast.Continue, ())
        if not _may_end(node):
            return node
        goes_on = self._new("goes_on")
        return self._guarded(node, goes_on, node.test, node.body)

    def _steps(self, node: ast.For) -> tuple[str, ast.expr, ast.expr, int] | None:
        """Variable, first and last value, and step of a range; None where it is no such loop."""
        call, target = node.iter, node.target
        if not isinstance(target, ast.Name) or not isinstance(call, ast.Call):
            return None
        if self.captured.resolve(call.func) is not range or call.keywords:
            return None
        first, last, step = _bounds(call.args)
        is_used = any(_reads_outside(self.definition, target.id))
        is_set = target.id in _stored(node.body)
        if last is None or step is None or is_used or is_set:
            return None
        return target.id, first, last, step

    def _as_while(
        self, node: ast.For, name: str, first: ast.expr, last: ast.expr, step: int
    ) -> list[ast.stmt]:
        goes_on, end = self._new("goes_on"), self._new(f"end_of_{name}")
        sign = "<" if step > 0 else ">"
        start = _written(f"{end} = 0\n{name} = 0", node)
        for statement, value in zip(start, (last, first), strict=True):
            assert isinstance(statement, ast.Assign)
            statement.value = value
        test, advance = _written(f"{name} {sign} {end}\n{name} += {step}", node)
        assert isinstance(test, ast.Expr)
        loop = self._guarded(node, goes_on, test.value, [*node.body, advance])
        return [*start, *loop]

    def _guarded(
        self, node: ast.For | ast.While, goes_on: str, test: ast.expr, body: list[ast.stmt]
    ) -> list[ast.stmt]:
        """A loop that goes on until it is told not to."""
        text = f"{goes_on} = 1\n{goes_on} = 0\nwhile {goes_on} != 0 and 0:\n    pass"
        begin, end, loop = _written(text, node)
        assert isinstance(loop, ast.While) and isinstance(loop.test, ast.BoolOp)
        loop.test.values[1] = test
        loop.body = folded(body, ast.Break, (end,))
        return [begin, loop]

    def _new(self, stem: str) -> str:
        name, number = stem, 0
        while name in self.taken:
            number += 1
            name = f"{stem}_{number}"
        self.taken.add(name)
        return name


def folded(
    statements: Sequence[ast.stmt], jump: type[ast.stmt], instead: tuple[ast.stmt, ...]
) -> list[ast.stmt]:
    """Statements that end at a jump, or at `instead`, with what follows in the other branch."""
    for position, statement in enumerate(statements):
        before, rest = list(statements[:position]), statements[position + 1 :]
        if isinstance(statement, jump):
            return [*before, *map(copy.deepcopy, instead)]
        if isinstance(statement, ast.If) and _has([statement], jump):
            again = copy.deepcopy(list(rest))
            statement.body = folded([*statement.body, *rest], jump, instead)
            statement.orelse = folded([*statement.orelse, *again], jump, instead)
            statement.body = statement.body or [ast.copy_location(ast.Pass(), statement)]
            return [*before, statement]
    return list(statements)


def _has(statements: Sequence[ast.stmt], jump: type[ast.stmt]) -> bool:
    """Whether statements, outside of their loops, have such a jump."""
    return any(
        isinstance(each, jump)
        or (isinstance(each, ast.If) and (_has(each.body, jump) or _has(each.orelse, jump)))
        for each in statements
    )


def _may_end(loop: ast.For | ast.While) -> bool:
    """Whether a loop may end at `break`, and may go on."""
    always = any(isinstance(each, ast.Break) for each in loop.body)
    return _has(loop.body, ast.Break) and not always and not loop.orelse


def _bounds(arguments: list[ast.expr]) -> tuple[ast.expr, ast.expr | None, int | None]:
    """First and last value, and step of a range."""
    zero = ast.Constant(0)
    if len(arguments) == 1:
        return zero, arguments[0], 1
    if len(arguments) == 2:
        return arguments[0], arguments[1], 1
    if len(arguments) != 3:
        return zero, None, None
    try:
        step = ast.literal_eval(arguments[2])
    except ValueError:
        return zero, None, None
    return arguments[0], arguments[1], step if isinstance(step, int) and step else None


def _reads_outside(node: ast.AST, name: str) -> Iterator[ast.Name]:
    """Where a name is read outside of all loops over it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.For) and name in _stored([child.target]):
            yield from _reads_outside(child.iter, name)
            continue
        if isinstance(child, ast.Name) and child.id == name and isinstance(child.ctx, ast.Load):
            yield child
        yield from _reads_outside(child, name)


def _stored(nodes: Sequence[ast.AST]) -> set[str]:
    return {
        each.id
        for node in nodes
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }


def _written(text: str, old: ast.stmt) -> list[ast.stmt]:
    """New statements at the place of an old one."""
    statements = ast.parse(text).body
    for each in (inner for statement in statements for inner in ast.walk(statement)):
        ast.copy_location(each, old)
    return statements
