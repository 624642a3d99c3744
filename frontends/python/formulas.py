"""Calls of functions of NumPy as their formulas, and as calls of functions with loops."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar, cast

import numpy as np

from .captured import MISSING, Captured
from .local_functions import PlainFunction
from .numpy_functions import ARANGE_BETWEEN, FORMULAS, JOINED, LOOPS, METHODS, VARIANTS
from .source import PythonSource

Found = TypeVar("Found")


class Formulas(ast.NodeTransformer):
    """Replaces calls of formulas by their expressions, and those of loops by calls of these."""

    def __init__(self, captured: Captured) -> None:
        self.captured = captured

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """A call, or what it is replaced by; others stay, and have their messages later."""
        self.generic_visit(node)
        arguments, keywords = list(node.args), list(node.keywords)
        found = self.captured.resolve(node.func)
        if found is MISSING and isinstance(node.func, ast.Attribute):
            found = METHODS.get(node.func.attr, MISSING)
            arguments.insert(0, node.func.value)
        formula, loops = _lookup(FORMULAS, found), _lookup(LOOPS, found)
        if found is np.arange and len(arguments) > 1:
            loops = ARANGE_BETWEEN
        kind = next((each.value for each in keywords if each.arg == "dtype"), None)
        if found is np.arange and kind is not None:
            keywords = [each for each in keywords if each.arg != "dtype"]
        variants = _lookup(VARIANTS, found)
        if variants is not None:
            name, position, functions = variants
            written = _take(name, position, arguments, keywords)
            if written is not None:
                variant = _lookup(functions, _literal(written))
                formula, loops = (variant, None) if loops is None else (None, variant)
        if found is np.concatenate and len(arguments) == 1 and not keywords:
            return self._joined(arguments[0], node)
        bound = _bound(formula or loops, arguments, keywords)
        if bound is None:
            return node
        if formula is not None:
            (returned,) = PythonSource.of(formula).parse().body
            assert isinstance(returned, ast.Return) and returned.value is not None
            return cast(ast.expr, _Arguments(bound.arguments, node).visit(returned.value))
        assert loops is not None
        call = _call(loops, arguments, keywords, node)
        if found is np.arange and kind is not None:
            converted = ast.Attribute(call, "astype", ast.Load())
            call = ast.Call(ast.copy_location(converted, node), [kind], [])
        return ast.copy_location(call, node)

    def _joined(self, parts: ast.expr, node: ast.Call) -> ast.expr:
        if not isinstance(parts, ast.Tuple | ast.List) or len(parts.elts) < 2:
            return node
        result = parts.elts[0]
        for each in parts.elts[1:]:
            result = _call(JOINED, [result, each], [], node)
        return result


class _Arguments(ast.NodeTransformer):
    """Replaces parameters by arguments; all else gets the position of the call."""

    def __init__(self, arguments: Mapping[str, object], node: ast.Call) -> None:
        self.arguments = arguments
        self.node = node

    def visit(self, node: ast.AST) -> ast.AST:
        """A piece of the formula."""
        if isinstance(node, ast.Name):
            found = self.arguments.get(node.id, MISSING)
            if isinstance(found, ast.expr):
                return copy.deepcopy(found)
            if found is not MISSING:
                return ast.copy_location(ast.Constant(cast(Any, found)), self.node)
            node.meaning = np  # pyright: ignore[reportAttributeAccessIssue]
        ast.copy_location(node, self.node)
        return super().visit(node)


def _call(
    function: Callable[..., Any],
    arguments: list[ast.expr],
    keywords: list[ast.keyword],
    node: ast.Call,
) -> ast.Call:
    """A call of a function with the position, and the name in messages, of the one that it is."""
    called = ast.copy_location(ast.Name(ast.unparse(node.func), ast.Load()), node.func)
    called.meaning = _function(function)  # pyright: ignore[reportAttributeAccessIssue]
    return ast.copy_location(ast.Call(called, arguments, keywords), node)


@cache
def _function(function: Callable[..., Any]) -> PlainFunction:
    return PlainFunction(
        function, PythonSource.of(function), function.__globals__, of_language=True
    )


def _bound(
    function: Callable[..., Any] | None, arguments: list[ast.expr], keywords: list[ast.keyword]
) -> inspect.BoundArguments | None:
    """What the parameters of a function are; None where the call does not fit."""
    if function is None:
        return None
    try:
        named = {each.arg or "**": each.value for each in keywords}
        bound = inspect.signature(function).bind(*arguments, **named)
    except TypeError:
        return None
    bound.apply_defaults()
    return bound


def _take(
    name: str, position: int, arguments: list[ast.expr], keywords: list[ast.keyword]
) -> ast.expr | None:
    """Removes an argument from those of a call; None where it is not among them."""
    for each in keywords:
        if each.arg == name:
            keywords.remove(each)
            return each.value
    return arguments.pop(position) if len(arguments) > position else None


def _literal(node: ast.expr) -> object:
    """The value of a literal; MISSING for all else, also where it only equals an integer."""
    try:
        value = ast.literal_eval(node)
    except (TypeError, ValueError):
        return MISSING
    return MISSING if isinstance(value, bool | float) else value


def _lookup(table: Mapping[Any, Found], found: object) -> Found | None:
    try:
        return table.get(found)
    except TypeError:  # an object without a hash
        return None
