"""What names outside of a function mean: constants, modules, functions."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import is_dataclass
from types import FunctionType, ModuleType
from typing import Any, cast

import numpy as np

from ...dialects.errors import SourceError

MISSING = object()

_NUMBERS = (int, float, complex, np.number, np.bool_)
"""What is taken of classes and records: `Settings.dt`."""

SEQUENCES = (np.ndarray, list, tuple)
"""What elements are taken of."""


class Captured:
    """The names of the enclosing scopes, as they are at decoration.

    `numbers` has the constants that the kernel was made with, `hidden` the names of the function's
    own arguments and variables, `functions` the ones inside of it.
    """

    def __init__(self, names: Mapping[str, Any]) -> None:
        self.names = names
        self.numbers: dict[str, object] = {}
        self.used: dict[str, object] = {}
        self.hidden: set[str] = set()
        self.functions: dict[str, object] = {}

    @classmethod
    def of(cls, function: FunctionType) -> Captured:
        """The names that a function sees."""
        names = dict(function.__globals__)
        variables = function.__code__.co_freevars
        for name, cell in zip(variables, function.__closure__ or (), strict=True):
            try:
                names[name] = cell.cell_contents
            except ValueError:  # assigned after the decoration
                names.pop(name, None)
        return cls(names)

    @contextmanager
    def inside(self, other: Captured) -> Generator[None]:
        """Meanwhile, names mean what they mean in another function."""
        before, self.__dict__ = self.__dict__, other.__dict__
        try:
            yield
        finally:
            self.__dict__ = before

    def value(self, name: str) -> object:
        """The object of a name; MISSING where there is none."""
        found = self.names.get(name, getattr(builtins, name, MISSING))
        if found is not MISSING:
            self.used[name] = found
        return found

    def resolve(self, node: ast.expr) -> object:
        """What a name, an attribute or an element of a sequence means; else MISSING.

        Attributes are those of modules, and numbers and sequences of classes and dataclasses.

        A piece that a rewriting has made may have its `meaning` itself.
        """
        meaning = getattr(node, "meaning", MISSING)
        if meaning is not MISSING:
            return meaning
        if isinstance(node, ast.Name) and node.id in self.functions:
            return self.functions[node.id]
        if isinstance(node, ast.Name):
            return MISSING if node.id in self.hidden else self.value(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.resolve(node.value)
            if isinstance(owner, ModuleType | np.ufunc):
                return getattr(owner, node.attr, MISSING)
            if isinstance(owner, type) or is_dataclass(owner):
                found: object = getattr(owner, node.attr, MISSING)
                return (
                    cast(object, found) if isinstance(found, (*_NUMBERS, *SEQUENCES)) else MISSING
                )
        if isinstance(node, ast.Subscript):
            return self._element(self.resolve(node.value), node.slice)
        return MISSING

    @staticmethod
    def _element(owner: object, subscript: ast.expr) -> object:
        """The element of an array, list or tuple at a literal subscript."""
        if not isinstance(owner, SEQUENCES):
            return MISSING
        try:
            return cast(Any, owner)[ast.literal_eval(subscript)]
        except (ValueError, IndexError, TypeError):
            return MISSING


def check_same(
    function: Callable[..., Any], numbers: Mapping[str, object], kernel: str, *, records: bool
) -> None:
    """Raises SourceError where a number from the enclosing scope has changed.

    With `records`, of classes, dataclasses and sequences alone.
    """
    captured = Captured.of(cast(FunctionType, function))
    for spelled, before in numbers.items():
        if records and spelled.isidentifier():
            continue
        now = captured.resolve(ast.parse(spelled, mode="eval").body)
        same = now == before or (now != now and before != before)  # NaN
        if now is MISSING or type(now) is not type(before) or not same:
            was = "is gone" if now is MISSING else f"is {now!r} now"
            raise SourceError(
                f"'{spelled}' was {before!r} when the kernel '{kernel}' was made, and {was}",
                hint="pass it as an argument, or decorate the function again",
            )
