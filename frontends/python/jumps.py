"""`continue`, `break` and an early `return`, as branches and loops with a condition."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from .captured import Captured
from .early_returns import Leave
from .loop_forms import LoopForms
from .meanings import copied
from .source import PythonSource
from .unused_names import unused_name

_MOST_COPIED = 100
"""Nodes of statements behind a jump that are copied into both branches, instead of a variable."""


class Jumps(ast.NodeTransformer):
    """Writes what follows a jump as the other branch of its condition.

        for i in range(n):              ->    for i in range(n):
            if A[i] < 0:                          if A[i] < 0:
                continue                              pass
            B[i] = A[i]                           else:
                                                      B[i] = A[i]

    Where both branches may go on, a variable says whether they do, before long statements behind
    them. A loop that ends with `break` is a `while` loop, with such a variable.
    """

    def __init__(
        self,
        captured: Captured,
        taken: set[str],
        source: PythonSource,
        definition: ast.FunctionDef,
    ) -> None:
        self.captured = captured
        self.forms = LoopForms(captured, taken, source)
        self.taken = taken
        self.source = source
        self._around: list[set[str]] = []
        names = [each for each in ast.walk(definition) if isinstance(each, ast.Name | ast.arg)]
        self._used = {each.id for each in names if isinstance(each, ast.Name)}
        stored = [each for each in names if not _is_load(each)]
        self._stored = [each.id if isinstance(each, ast.Name) else each.arg for each in stored]
        self._read_outside = {
            name for name in set(self._stored) if any(_reads_outside(definition, name))
        }

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """The function: statements behind `if ...: return` are the other branch."""
        self.generic_visit(node)
        end = [node.body.pop()] if isinstance(node.body[-1], ast.Return) else []
        node.body = [*self._folded(node.body, ast.Return, None), *end] or _written("pass", node)
        return node

    def visit_For(self, node: ast.For) -> ast.stmt | list[ast.stmt]:
        """A loop without `continue`; one with `break` is a `while` loop; raises SourceError."""
        targets = _stored([node.target])
        is_inner = any(targets & each for each in self._around)
        steps = None
        if not is_inner and _has(node.body, ast.Break):
            self.forms.as_range(node)
            targets |= _stored([node.target])
            steps = self._steps(node)
        self._around.append(targets)
        self.generic_visit(node)
        self._around.pop()
        self._fold(node, ast.Continue)
        if steps is not None and self._may_end(node):
            return self._as_while(node, *steps)
        return _with_else_behind(node)

    def visit_While(self, node: ast.While) -> ast.stmt | list[ast.stmt]:
        """A loop without `continue` and `break`."""
        self.generic_visit(node)
        self._fold(node, ast.Continue)
        if not self._may_end(node):
            return _with_else_behind(node)
        goes_on = self._new("goes_on")
        return self._guarded(node, goes_on, node.test, node.body)

    def _may_end(self, loop: ast.For | ast.While) -> bool:
        """Whether a loop may end at `break`; raises SourceError where it always does."""
        if not _has(loop.body, ast.Break):
            return False
        if _leaves(loop.body):
            raise self.source.error(
                _first_break(loop),
                "the loop ends with 'break' the first time that its body runs",
                "write an 'if' instead of the loop",
            )
        return True

    def _steps(self, node: ast.For) -> tuple[str, ast.expr, ast.expr, int] | None:
        """Variable, first and last value, and step of a range; None where it is no such loop."""
        call, target = node.iter, node.target
        if not isinstance(target, ast.Name) or not isinstance(call, ast.Call):
            return None
        if self.captured.resolve(call.func) is not range or call.keywords:
            return None
        first, last, step = _bounds(call.args)
        name, jump = target.id, _first_break(node)
        word = "return" if isinstance(jump, Leave) else "break"
        reasons = {
            f"the variable '{name}' of a loop with '{word}' is read behind it": (
                name in self._read_outside,
                "keep its value in another variable",
            ),
            f"the variable '{name}' of a loop with '{word}' is set in it": (
                name in _stored(node.body),
                "use another name",
            ),
            f"the step of a loop with '{word}' is no constant": (
                last is None or step is None,
                "write it as a number",
            ),
        }
        for reason, (holds, hint) in reasons.items():
            if holds:
                raise self.source.error(jump, reason, hint)
        assert last is not None and step is not None
        return name, first, last, step

    def _as_while(
        self, node: ast.For, name: str, first: ast.expr, last: ast.expr, step: int
    ) -> list[ast.stmt]:
        goes_on, end = self._new("goes_on"), self._new(f"end_of_{name}")
        if self._stored.count(name) > 1:  # also the variable of a loop that stays one
            old, name = name, self._new(name)
            for each in (inner for statement in node.body for inner in ast.walk(statement)):
                if isinstance(each, ast.Name) and each.id == old:
                    each.id = name
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
        """A loop that goes on until it is told not to; its `else` is for those that are not."""
        text = f"{goes_on} = 1\n{goes_on} = 0\nwhile {goes_on} != 0 and 0:\n    pass"
        begin, end, loop = _written(text, node)
        assert isinstance(loop, ast.While) and isinstance(loop.test, ast.BoolOp)
        loop.test.values[1] = test
        assert isinstance(end, ast.Assign)
        loop.body = self._folded(body, ast.Break, end)
        if not node.orelse:
            return [begin, loop]
        [check] = _written(f"if {goes_on} != 0:\n    pass", node.orelse[0])
        assert isinstance(check, ast.If)
        check.body = node.orelse
        return [begin, loop, check]

    def _new(self, stem: str) -> str:
        return unused_name(stem, self.taken, self._used)

    def _fold(self, node: ast.For | ast.While, jump: type[ast.stmt]) -> None:
        """Leaves out the jumps to the end of a body."""
        node.body = self._folded(node.body, jump, None) or _written("pass", node.body[0])

    def _folded(
        self, statements: Sequence[ast.stmt], jump: type[ast.stmt], end: ast.Assign | None
    ) -> list[ast.stmt]:
        """Statements that end at a jump, which is the assignment `end`, if there is one."""
        for position, statement in enumerate(statements):
            before, rest = statements[:position], statements[position + 1 :]
            if isinstance(statement, jump):
                return [*before, *([] if end is None else [copied(end)])]
            if isinstance(statement, ast.If) and _has([statement], jump):
                return [*before, *self._branched(statement, rest, jump, end)]
        return list(statements)

    def _branched(
        self,
        node: ast.If,
        rest: Sequence[ast.stmt],
        jump: type[ast.stmt],
        end: ast.Assign | None,
    ) -> list[ast.stmt]:
        """A condition with a jump, and the rest where it goes on.

        Short ones are copied into both branches, where affine conditions stay affine.
        """
        begin: list[ast.stmt] = []
        behind: list[ast.stmt] = []
        branches = (node.body, node.orelse)
        if rest and not any(map(_leaves, branches)) and not _is_short(rest, jump):
            if end is None:
                name = self._new("goes_on")
                start, stop = _written(f"{name} = 1\n{name} = 0", node)
                assert isinstance(stop, ast.Assign)
                begin, end = [start], stop
            [check] = _written(f"if {ast.unparse(end.targets[0])} != 0:\n    pass", rest[0])
            assert isinstance(check, ast.If)
            check.body = self._folded(rest, jump, end)
            behind, rest = [check], ()
        again = [copied(each) for each in rest]
        node.body, node.orelse = (
            self._folded([*each, *(() if _leaves(each) else following)], jump, end)
            for each, following in zip(branches, (rest, again), strict=True)
        )
        node.body = node.body or _written("pass", node)
        return [*begin, node, *behind]


def _with_else_behind(loop: ast.For | ast.While) -> list[ast.stmt]:
    """A loop without `break`: its `else` always follows."""
    if _has(loop.body, ast.Break):
        return [loop]
    rest, loop.orelse = loop.orelse, []
    return [loop, *rest]


def _is_short(rest: Sequence[ast.stmt], jump: type[ast.stmt]) -> bool:
    """Whether statements may be copied: there are few of them, and they make no more copies."""
    if any(isinstance(each, ast.If) and _has([each], jump) for each in rest):
        return False
    return sum(1 for each in rest for _ in ast.walk(each)) <= _MOST_COPIED


def _leaves(statements: Sequence[ast.stmt]) -> bool:
    """Whether statements always end at a jump."""
    return any(
        isinstance(each, ast.Break | ast.Continue | ast.Return)
        or (isinstance(each, ast.If) and _leaves(each.body) and _leaves(each.orelse))
        for each in statements
    )


def _has(statements: Sequence[ast.stmt], jump: type[ast.stmt]) -> bool:
    """Whether statements, outside of their loops, have such a jump."""
    return any(
        isinstance(each, jump)
        or (isinstance(each, ast.If) and (_has(each.body, jump) or _has(each.orelse, jump)))
        for each in statements
    )


def _first_break(loop: ast.For | ast.While) -> ast.Break:
    """The first `break` of a loop that has one."""
    inner: list[ast.AST] = [*loop.body]
    while not isinstance(inner[0], ast.Break):
        first = inner.pop(0)
        inner[:0] = [*first.body, *first.orelse] if isinstance(first, ast.If) else []
    return inner[0]


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


def _is_load(node: ast.Name | ast.arg) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


def _stored(nodes: Sequence[ast.AST]) -> set[str]:
    """The names that statements give a value, also as arguments of functions in them."""
    return {
        each.id if isinstance(each, ast.Name) else each.arg
        for node in nodes
        for each in ast.walk(node)
        if isinstance(each, ast.Name | ast.arg) and not _is_load(each)
    }


def _written(text: str, old: ast.stmt) -> list[ast.stmt]:
    """New statements at the place of an old one."""
    statements = ast.parse(text).body
    for each in (inner for statement in statements for inner in ast.walk(statement)):
        ast.copy_location(each, old)
    return statements
