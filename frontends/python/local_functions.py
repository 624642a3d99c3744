"""Functions that kernels call and that are no kernels: plain ones, nested ones, and lambdas."""

from __future__ import annotations

import ast
import copy
import inspect
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from .captured import Captured
from .source import PythonSource


@dataclass(frozen=True)
class LocalSource(PythonSource):
    """The source of a function inside of another one."""

    definition: ast.FunctionDef

    def parse(self) -> ast.FunctionDef:
        """A copy of the definition."""
        return copy.deepcopy(self.definition)


@dataclass(frozen=True)
class PlainFunction:
    """A function whose statements take the place of its calls, as those of a kernel do.

    One that is part of the language has the positions of its calls, a nested one the names of the
    function around it, and the nested `functions` before it.
    """

    python: Any
    source: PythonSource
    names: Mapping[str, Any]
    of_language: bool = False
    functions: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def is_nested(self) -> bool:
        """Whether it is a function inside of another one."""
        return isinstance(self.source, LocalSource)

    @property
    def has_no_numbers(self) -> bool:
        """Whether what it uses from outside is used by the function around, or never changes."""
        return self.is_nested or self.of_language

    @property
    def parameter_types(self) -> Mapping[str, Any]:
        """None: it takes arguments of any type."""
        return {}


@dataclass(frozen=True)
class FunctionByRank:
    """A function of the language with statements for each rank of its first argument."""

    of_rank: Mapping[int, PlainFunction]


class LocalStub:
    """Name and signature of a function that is never called itself."""

    def __init__(self, definition: ast.FunctionDef) -> None:
        self.__name__ = definition.name
        arguments = definition.args
        kinds = inspect.Parameter
        positional = [*arguments.posonlyargs, *arguments.args]
        missing: list[Any] = [kinds.empty] * (len(positional) - len(arguments.defaults))
        defaults = [*missing, *arguments.defaults]
        found = [
            kinds(each.arg, kinds.POSITIONAL_OR_KEYWORD, default=default)
            for each, default in zip(positional, defaults, strict=True)
        ]
        found += [
            kinds(each.arg, kinds.KEYWORD_ONLY, default=default or kinds.empty)
            for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        ]
        self.__signature__ = inspect.Signature(found)

    def __call__(self) -> None:
        """It has only what `inspect.signature` asks of it."""


def plain_function(found: object) -> PlainFunction | None:
    """The function that a call runs, where that is one of the user's."""
    if isinstance(found, PlainFunction):
        return found
    if not isinstance(found, FunctionType):
        return None
    package = found.__module__.partition(".")[0]
    if package == "numpy" or (package in sys.stdlib_module_names and package != "__main__"):
        return None
    return PlainFunction(found, PythonSource.of(found), Captured.of(found).names)


def lift(definition: ast.FunctionDef, source: PythonSource, captured: Captured) -> None:
    """Takes nested functions and lambdas out of a function.

    What they use of the function's own variables becomes arguments, which calls pass.
    """
    body: list[ast.stmt] = []
    for statement in definition.body:
        nested = _function(statement, definition)
        if nested is None:
            body.append(statement)
            continue
        itself = [n for n in ast.walk(nested) if isinstance(n, ast.Name) and n.id == nested.name]
        if itself:
            raise source.error(itself[0], f"'{nested.name}' calls itself", "write a loop")
        own = _locals(nested)
        outer = _locals(definition) - {nested.name}
        used = {each.id: each for each in ast.walk(nested) if isinstance(each, ast.Name)}
        free = [name for name in used if name not in own and name in outer]
        for name in free:
            nested.args.kwonlyargs.append(ast.copy_location(ast.arg(name), nested))
            nested.args.kw_defaults.append(None)
        for call in ast.walk(definition):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Name)
                and call.func.id == nested.name
            ):
                values = (ast.copy_location(ast.Name(n, ast.Load()), call) for n in free)
                call.keywords += [ast.keyword(v.id, v) for v in values]
        local = LocalSource(source.file, source.first_line, source.lines, nested)
        before = dict(captured.functions)
        function = PlainFunction(LocalStub(nested), local, captured.names, functions=before)
        captured.functions[nested.name] = function
    definition.body = body or [ast.copy_location(ast.Pass(), definition)]


def _function(statement: ast.stmt, around: ast.FunctionDef) -> ast.FunctionDef | None:
    """The function that a statement defines; a lambda must be the name's only value."""
    if isinstance(statement, ast.FunctionDef):
        return None if statement.decorator_list else statement
    if not (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Name)
        and isinstance(statement.value, ast.Lambda)
    ):
        return None
    name = statement.targets[0].id
    stores = (
        each
        for each in ast.walk(around)
        if isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Store)
    )
    if len(list(stores)) > 1:
        return None
    value = statement.value
    returned = ast.copy_location(ast.Return(value.body), value.body)
    return ast.copy_location(ast.FunctionDef(name, value.args, [returned], []), statement)


def _locals(definition: ast.FunctionDef) -> set[str]:
    """The names of a function's arguments and variables, without those of nested functions."""
    inner = {
        id(each)
        for nested in ast.walk(definition)
        if isinstance(nested, ast.FunctionDef | ast.Lambda) and nested is not definition
        for each in ast.walk(nested)
    }
    return {
        each.arg if isinstance(each, ast.arg) else each.id
        for each in ast.walk(definition)
        if id(each) not in inner
        and (
            isinstance(each, ast.arg)
            or (isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
        )
    }
