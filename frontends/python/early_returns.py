"""`return` with a value before the end of the function, and `return` in loops."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from .meanings import placed
from .source import PythonSource
from .unused_names import unused_name


class NoValue(ast.expr):
    """What a variable has before its first value: some number of the type that it gets."""


class Leave(ast.Break):
    """A `break` in place of a `return`."""


class EarlyReturns:
    """Writes results as variables, and leaves loops by `break`: one `return` is left, the last.

    for i in range(n):              ->    returned = 0
        if A[i] > 0.5:                    for i in range(n):
            return i                          if A[i] > 0.5:
    return -1                                     result = i
                                                  returned = 1
                                                  break
                                          if returned != 0:
                                              return
                                          result = -1
                                          return result

    The `return`s and `break`s that it writes are those of `Jumps`.
    """

    def __init__(self, definition: ast.FunctionDef, taken: set[str], source: PythonSource) -> None:
        self.definition = definition
        self.taken = taken
        self.source = source
        self.returned = ""
        self.names: list[str] = []
        self._made: set[str] = set()

    def rewrite(self) -> None:
        """Rewrites the function, where it has such a `return`; raises SourceError."""
        body = self.definition.body
        every = [each for statement in body for each in _returns(statement)]
        early = [each for each in every if each is not body[-1]]
        in_loops = any(
            _returns(each) for each in ast.walk(self.definition) if isinstance(each, _LOOPS)
        )
        if not in_loops and not any(map(_values, early)):
            return
        self._check_values(every)
        self.names = [self._name(position, every) for position in range(len(_values(every[0])))]
        if in_loops:
            self.returned = unused_name("returned", self.taken)
        self.definition.body = [
            *self._begin(),
            *self._block(body, in_loop=False),
            *self._end(every),
        ]

    def _check_values(self, returns: Sequence[ast.Return]) -> None:
        """Raises SourceError where not all return as many values."""
        for each in returns:
            if _form(each) != _form(returns[0]):
                raise self.source.error(
                    each,
                    "this 'return' has another number of values than the first one",
                    "return as many values everywhere",
                )
        if _values(returns[0]) and not _leaves(self.definition.body):
            raise self.source.error(
                self.definition.body[-1],
                "the function may end here without 'return', but returns something elsewhere",
                "write a 'return' as the last statement",
            )

    def _name(self, position: int, returns: Sequence[ast.Return]) -> str:
        """The variable of a result: one that all return, or a new one."""
        values = [_values(each)[position] for each in returns]
        first = values[0]
        loops = (each.target for each in ast.walk(self.definition) if isinstance(each, ast.For))
        targets = {
            name.id for each in loops for name in ast.walk(each) if isinstance(name, ast.Name)
        }
        if isinstance(first, ast.Name) and first.id not in targets:
            same = [isinstance(each, ast.Name) and each.id == first.id for each in values]
            if all(same):
                return first.id
        stem = "result" if len(_values(returns[0])) == 1 else f"result{position}"
        name = unused_name(stem, self.taken)
        self._made.add(name)
        return name

    def _begin(self) -> list[ast.stmt]:
        place = self.definition.body[0]
        new = [each for each in self.names if each in self._made]
        found: list[ast.stmt] = [
            ast.Assign([ast.Name(each, ast.Store())], NoValue()) for each in new
        ]
        if self.returned:
            found.append(ast.Assign([ast.Name(self.returned, ast.Store())], ast.Constant(0)))
        return [placed(each, place) for each in found]

    def _end(self, returns: Sequence[ast.Return]) -> list[ast.stmt]:
        if not self.names:
            return []
        names: list[ast.expr] = [ast.Name(each, ast.Load()) for each in self.names]
        is_tuple = isinstance(returns[0].value, ast.Tuple)
        value = ast.Tuple(names, ast.Load()) if is_tuple else names[0]
        return [placed(ast.Return(value), returns[-1])]

    def _block(self, statements: Sequence[ast.stmt], *, in_loop: bool) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for each in statements:
            found += self._statement(each, in_loop=in_loop)
        return found

    def _statement(self, node: ast.stmt, *, in_loop: bool) -> list[ast.stmt]:
        if isinstance(node, ast.Return):
            return self._assigned(node, in_loop=in_loop)
        if isinstance(node, ast.If):
            node.body = self._block(node.body, in_loop=in_loop)
            node.orelse = self._block(node.orelse, in_loop=in_loop)
            return [node]
        if isinstance(node, _LOOPS) and _returns(node):
            if _leaves(node.body):
                raise self.source.error(
                    _returns(node)[0],
                    "the loop ends with 'return' the first time that its body runs",
                    "write an 'if' instead of the loop",
                )
            node.body = self._block(node.body, in_loop=True)
            node.orelse = self._block(node.orelse, in_loop=in_loop)
            name = ast.Name(self.returned, ast.Load())
            test = ast.Compare(name, [ast.NotEq()], [ast.Constant(0)])
            leave = ast.If(test, [Leave() if in_loop else ast.Return()], [])
            return [node, placed(leave, node)]
        return [node]

    def _assigned(self, node: ast.Return, *, in_loop: bool) -> list[ast.stmt]:
        """`return x` as assignments and a jump."""
        found: list[ast.stmt] = []
        for name, value in zip(self.names, _values(node), strict=True):
            if not isinstance(value, ast.Name) or value.id != name:
                found.append(ast.Assign([ast.Name(name, ast.Store())], value))
        if in_loop:
            found.append(ast.Assign([ast.Name(self.returned, ast.Store())], ast.Constant(1)))
        found.append(Leave() if in_loop else ast.Return())
        return [placed(each, node) for each in found]


_LOOPS = ast.For | ast.While


def _returns(node: ast.AST) -> list[ast.Return]:
    """All `return`s in a statement."""
    return [each for each in ast.walk(node) if isinstance(each, ast.Return)]


def _values(node: ast.Return) -> list[ast.expr]:
    """What a `return` returns."""
    if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None):
        return []
    return node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]


def _form(node: ast.Return) -> tuple[int, bool]:
    return len(_values(node)), isinstance(node.value, ast.Tuple)


def _leaves(statements: Sequence[ast.stmt]) -> bool:
    """Whether statements always end at a `return`."""
    return any(
        isinstance(each, ast.Return)
        or (isinstance(each, ast.If) and _leaves(each.body) and _leaves(each.orelse))
        or (isinstance(each, _LOOPS) and _leaves(each.orelse) and not _breaks(each.body))
        for each in statements
    )


def _breaks(statements: Sequence[ast.stmt]) -> bool:
    """Whether statements may end the loop that they are in by `break`."""
    return any(
        isinstance(each, ast.Break)
        or (isinstance(each, ast.If) and (_breaks(each.body) or _breaks(each.orelse)))
        or (isinstance(each, _LOOPS) and _breaks(each.orelse))
        for each in statements
    )
