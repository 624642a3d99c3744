"""Loops of Python over sequences: `enumerate`, `zip`, and the elements of arrays, as ranges."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from typing import TypeGuard, cast

from .captured import SEQUENCES, Captured
from .meanings import copied, meant
from .source import PythonSource
from .unused_names import unused_name

_MOST_COPIES = 64
"""Elements of a sequence of constants that a loop runs over: its body is repeated for each."""

Targets = list[tuple[ast.expr, ast.expr]]


class LoopForms(ast.NodeTransformer):
    """Writes loops over sequences as loops over ranges.

        for k, x in enumerate(A):        ->    for k in range(len(A)):
            y[k] += x                              x = A[k]
                                                   y[k] += x

    Loops over constants are their bodies, one for each: `for dy, dx in ((0, 1), (1, 0))`.
    """

    def __init__(self, captured: Captured, taken: set[str], source: PythonSource) -> None:
        self.source = source
        self.captured = captured
        self.taken = taken
        self._definition: ast.FunctionDef | None = None

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """A function."""
        self._definition = node
        return self.generic_visit(node)

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        """A loop, or the statements that it is."""
        node.iter = self._turned(node.iter)
        named = self._named_views(node)
        if named:
            return [*named, cast(ast.stmt, self.visit(node))]
        copies = self._copies(node)
        if copies is not None:
            self._check_unread_behind(node)
            visited = [self.visit(each) for each in copies]
            return [
                each
                for part in visited
                for each in (cast("list[ast.stmt]", part) if isinstance(part, list) else [part])
            ]
        self.as_range(node)
        if not isinstance(node.target, ast.Name) or not isinstance(node.iter, ast.Call):
            raise self.source.error(
                node.iter,
                f"loops run over range(...), arrays with a name, or at most {_MOST_COPIES} "
                "constants",
                "write `for i in range(n)`",
            )
        return self.generic_visit(node)

    # Constants

    def _copies(self, node: ast.For) -> list[ast.stmt] | None:
        """The bodies of a loop over constants; None for other loops."""
        values = self._constants(node.iter) or self._table_positions(node)
        if values is None or node.orelse or not 0 < len(values) <= _MOST_COPIES:
            return None
        copies: list[ast.stmt] = []
        stored = {
            each.id
            for statement in node.body
            for each in ast.walk(statement)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
        for value in values:
            meanings: dict[str, ast.expr] = {}
            if not self._match(node.target, value, meanings) or stored & set(meanings):
                return None
            substitution = Substitution(meanings)
            copies += [cast(ast.stmt, substitution.visit(copied(each))) for each in node.body]
        return copies

    def _check_unread_behind(self, loop: ast.For) -> None:
        """Raises SourceError where a variable of a loop that is gone is read behind it."""
        assert loop.end_lineno is not None and loop.end_col_offset is not None
        end = loop.end_lineno, loop.end_col_offset
        if self._definition is None:
            return
        for name in _bound(loop.target):
            found = list(_free(name, self._definition))
            behind = [each for each in found if (each.lineno, each.col_offset) > end]
            if behind and all(isinstance(each.ctx, ast.Load) for each in behind):
                raise self.source.error(
                    behind[0],
                    f"'{name}' is used behind its loop",
                    "use the last constant, or another variable",
                )

    def _table_positions(self, node: ast.For) -> list[ast.expr] | None:
        """The values of a short range along a table of the enclosing scope: `dx[k]`."""
        target, call = node.target, node.iter
        if not isinstance(target, ast.Name) or not isinstance(call, ast.Call) or call.keywords:
            return None
        bounds = [self._integer(each) for each in call.args]
        known = [each for each in bounds if each is not None]
        is_range = self.captured.resolve(call.func) is range and 1 <= len(known) <= 3
        if not is_range or len(known) < len(bounds) or known[2:] == [0]:
            return None
        pieces = (each for statement in node.body for each in ast.walk(statement))
        if not any(self._is_table_element(each, target.id) for each in pieces):
            return None
        values = range(*known)[: _MOST_COPIES + 1]
        return [place_at(ast.parse(str(each), mode="eval").body, call) for each in values]

    def _is_table_element(self, node: ast.AST, position: str) -> bool:
        if not isinstance(node, ast.Subscript) or not any(
            isinstance(each, ast.Name) and each.id == position for each in ast.walk(node.slice)
        ):
            return False
        base: ast.expr = node
        while isinstance(base, ast.Subscript):
            base = base.value
        return isinstance(self.captured.resolve(base), SEQUENCES)

    def _integer(self, node: ast.expr) -> int | None:
        """An integer that is known when the function is translated."""
        if isinstance(node, ast.Constant):
            found: object = node.value
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = self._integer(node.operand)
            found = None if inner is None else -inner
        elif isinstance(node, ast.Call) and self.captured.resolve(node.func) is builtins.len:
            table = self.captured.resolve(node.args[0]) if len(node.args) == 1 else None
            found = len(cast("list[object]", table)) if isinstance(table, SEQUENCES) else None
        else:
            found = self.captured.resolve(node)
        return found if type(found) is int else None

    def _constants(self, node: ast.expr) -> list[ast.expr] | None:
        """The elements of a sequence that is known when the function is translated."""
        if isinstance(node, ast.Tuple | ast.List):
            return list(node.elts)
        found = self.captured.resolve(node)
        if isinstance(found, SEQUENCES):
            count = len(cast("list[object]", found))
            return [_element(node, position) for position in range(min(count, _MOST_COPIES + 1))]
        if not isinstance(node, ast.Call) or node.keywords:
            return None
        inner = [self._constants(each) for each in node.args]
        known = [each for each in inner if each is not None]
        called = self.captured.resolve(node.func)
        if called is builtins.enumerate and len(node.args) == 1 and known:
            pairs = enumerate(known[0])
            return [_tuple([ast.Constant(position), each], node) for position, each in pairs]
        if called is builtins.zip and known and len(known) == len(inner):
            return [_tuple(list(each), node) for each in zip(*known, strict=False)]
        return None

    def _match(self, target: ast.expr, value: ast.expr, meanings: dict[str, ast.expr]) -> bool:
        """Gives the names of a target their values."""
        if isinstance(target, ast.Name):
            meanings[target.id] = value
            return True
        if not isinstance(target, ast.Tuple | ast.List):
            return False
        parts = self._constants(value)
        return (
            parts is not None
            and len(parts) == len(target.elts)
            and all(
                self._match(one, other, meanings)
                for one, other in zip(target.elts, parts, strict=True)
            )
        )

    # Arrays

    def _turned(self, node: ast.expr) -> ast.expr:
        """`reversed(range(a, b))` -> `range(b - 1, a - 1, -1)`, `reversed(A)` -> `A[::-1]`."""
        if not isinstance(node, ast.Call):
            return node
        called = self.captured.resolve(node.func)
        if called is builtins.enumerate or called is builtins.zip:
            node.args = [self._turned(each) for each in node.args]
        if called is not builtins.reversed or len(node.args) != 1 or node.keywords:
            return node
        inner, turned = node.args[0], node
        back = ast.UnaryOp(ast.USub(), ast.Constant(1))
        known = self._constants(inner)
        if known is not None:
            turned = _tuple(known[::-1], node)
        elif _is_place(inner):
            turned = ast.Subscript(inner, ast.Slice(None, None, back), ast.Load())
        elif self._is_plain_range(inner):
            first = ast.Constant(0) if len(inner.args) == 1 else inner.args[0]
            ends = (ast.BinOp(e, ast.Sub(), ast.Constant(1)) for e in (inner.args[-1], first))
            turned = _call("range", [*ends, back])
        for each in ast.walk(turned):
            if not hasattr(each, "lineno"):
                ast.copy_location(each, node)
        return turned

    def _is_plain_range(self, node: ast.expr) -> TypeGuard[ast.Call]:
        """Whether an expression is a `range` without a step."""
        return (
            isinstance(node, ast.Call)
            and self.captured.resolve(node.func) is range
            and 1 <= len(node.args) <= 2
            and not node.keywords
        )

    def as_range(self, node: ast.For) -> None:
        """Replaces a loop over the elements of arrays by one over their positions."""
        node.iter = self._turned(node.iter)
        if self._constants(node.iter) is not None:
            return
        arrays, targets, position = [node.iter], [node.target], None
        call = node.iter
        called = self.captured.resolve(call.func) if isinstance(call, ast.Call) else None
        start: ast.expr = ast.Constant(0)
        if isinstance(call, ast.Call) and called is builtins.enumerate:
            pair = node.target.elts if isinstance(node.target, ast.Tuple) else []
            if len(pair) != 2 or call.keywords or not 1 <= len(call.args) <= 2:
                return
            position, element = pair
            arrays, targets = [call.args[0]], [element]
            start = call.args[1] if len(call.args) == 2 else start
            inner = call.args[0]
            if isinstance(inner, ast.Call):
                call, called = inner, self.captured.resolve(inner.func)
        if isinstance(call, ast.Call) and called is builtins.zip:
            last = targets[-1]
            if not isinstance(last, ast.Tuple) or len(last.elts) != len(call.args):
                return
            arrays, targets = self._unzipped(call.args, last.elts)
        if not all(map(_is_place, arrays)) or not all(map(_is_target, targets)):
            return
        counter = position if isinstance(position, ast.Name) else None
        if counter is None:
            if position is not None:
                return
            counter = ast.Name(unused_name("position", self.taken), ast.Store())
        lengths = [_call("len", [copied(each)]) for each in arrays]
        count = lengths[0] if len(lengths) == 1 else _call("min", lengths)
        used: ast.expr = ast.Name(counter.id, ast.Load())
        bounds = [count]
        if not isinstance(start, ast.Constant) or start.value != 0:
            used = ast.BinOp(used, ast.Sub(), copied(start))
            bounds = [start, ast.BinOp(count, ast.Add(), copied(start))]
        first: list[ast.stmt] = []
        for target, array in zip(targets, arrays, strict=True):
            element = ast.Subscript(array, copied(used), ast.Load())
            first.append(ast.Assign([target], element))
        written = node.iter
        node.target, node.iter = counter, _call("range", bounds)
        for each in (node.target, node.iter, *first):
            place_at(each, written)
        node.body = [*first, *node.body]

    def _named_views(self, loop: ast.For) -> list[ast.stmt]:
        """Names for arrays in another shape that the loop runs over, such as `A.ravel()`."""
        call = loop.iter
        called = self.captured.resolve(call.func) if isinstance(call, ast.Call) else None
        is_several = called is builtins.enumerate or called is builtins.zip
        parts = call.args if isinstance(call, ast.Call) and is_several else [loop.iter]
        named: list[ast.stmt] = []
        for position, part in enumerate(parts):
            value = _reshaped(part)
            if value is None:
                continue
            name = unused_name("elements", self.taken)
            self.taken.add(name)
            stored = ast.Assign([ast.Name(name, ast.Store())], value)
            place_at(stored, part)
            named.append(stored)
            parts[position] = place_at(ast.Name(name, ast.Load()), part)
        if not is_several:
            loop.iter = parts[0]
        return named

    def _unzipped(
        self, arrays: list[ast.expr], targets: list[ast.expr]
    ) -> tuple[list[ast.expr], list[ast.expr]]:
        """The arrays of `zip(x, zip(y, z))`, each with its target in `a, (b, c)`."""
        pairs: list[tuple[ast.expr, ast.expr]] = []
        for array, target in zip(arrays, targets, strict=True):
            inner = array.args if isinstance(array, ast.Call) else []
            parts = target.elts if isinstance(target, ast.Tuple) else []
            is_zip = isinstance(array, ast.Call) and (
                self.captured.resolve(array.func) is builtins.zip
            )
            if is_zip and inner and len(inner) == len(parts):
                pairs += zip(*self._unzipped(inner, parts), strict=True)
            else:
                pairs.append((array, target))
        return [array for array, _ in pairs], [target for _, target in pairs]


class Substitution(ast.NodeTransformer):
    """Replaces names by expressions."""

    def __init__(self, meanings: dict[str, ast.expr]) -> None:
        self.meanings = meanings

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """What a name stands for."""
        found = self.meanings.get(node.id)
        return node if found is None else place_at(copied(found), node)


def _reshaped(node: ast.expr) -> ast.expr | None:
    """What a loop over an array in another shape runs over; None for others."""
    if isinstance(node, ast.Attribute) and node.attr == "flat" and _is_place(node.value):
        return ast.Call(ast.Attribute(node.value, "ravel", ast.Load()), [], [])
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    is_other = node.func.attr in ("ravel", "reshape", "flatten") and _is_place(node.func.value)
    return node if is_other else None


def _is_place(node: ast.expr) -> bool:
    """Whether an expression is an array, or a piece of one, by its form."""
    if isinstance(node, ast.Subscript):
        return _is_place(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr == "T" and _is_place(node.value)
    return isinstance(node, ast.Name)


def _is_target(node: ast.expr) -> bool:
    """Whether this is a name, or several for the elements of a row."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return all(isinstance(each, ast.Name) for each in parts)


def _element(node: ast.expr, position: int) -> ast.expr:
    return place_at(ast.Subscript(copied(node), ast.Constant(position), ast.Load()), node)


def _tuple(parts: Sequence[ast.expr], node: ast.expr) -> ast.expr:
    return place_at(ast.Tuple(list(parts), ast.Load()), node)


def _call(name: str, arguments: list[ast.expr]) -> ast.expr:
    return ast.Call(meant(name, getattr(builtins, name)), arguments, [])


def place_at(node: ast.expr | ast.stmt, written: ast.expr) -> ast.expr:
    """Gives an expression the position of what the user has written."""
    for each in ast.walk(node):
        ast.copy_location(each, written)
    return cast(ast.expr, node)


def _bound(target: ast.expr) -> set[str]:
    """The names that a loop gives values to."""
    return {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}


def _free(name: str, node: ast.AST) -> Iterator[ast.Name]:
    """The uses of a name that are in no loop that gives values to it."""
    if isinstance(node, ast.Name) and node.id == name:
        yield node
    around = [node] if isinstance(node, ast.For) else getattr(node, "generators", ())
    if any(name in _bound(each.target) for each in around):
        return
    for each in ast.iter_child_nodes(node):
        yield from _free(name, each)
