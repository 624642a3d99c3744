"""Functions of NumPy that are formulas of others, and those that are loops."""

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
from .source import PythonSource

Found = TypeVar("Found")

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportMissingParameterType=false

# These are never run: kernels have their statements, which must be those of the language.


def _var(a, axis=None, keepdims=False):
    return np.mean(
        np.square(np.abs(a - np.mean(a, axis=axis, keepdims=True))), axis=axis, keepdims=keepdims
    )


def _std(a, axis=None, keepdims=False):
    return np.sqrt(
        np.mean(
            np.square(np.abs(a - np.mean(a, axis=axis, keepdims=True))),
            axis=axis,
            keepdims=keepdims,
        )
    )


def _count_nonzero(a, axis=None):
    return np.sum(np.where(a, 1, 0), axis=axis)


def _any(a, axis=None):
    return np.sum(np.where(a, 1, 0), axis=axis) > 0


def _all(a, axis=None):
    return np.sum(np.where(a, 0, 1), axis=axis) == 0


def _diff(a):
    return a[..., 1:] - a[..., :-1]


def _ptp(a, axis=None):
    return np.max(a, axis=axis) - np.min(a, axis=axis)


def _average(a, axis=None):
    return np.mean(a, axis=axis)


def _sign(a):
    return np.where(a > 0, 1, np.where(a < 0, -1, np.where(a == 0, 0, a)))


def _flipud(a):
    return a[::-1]


def _fliplr(a):
    return a[:, ::-1]


def _cumsum(a):
    total = np.full(len(a), np.sum(a[:0]))
    for i in range(len(a)):
        if i > 0:
            total[i] = total[i - 1] + a[i]
        else:
            total[i] = a[i]
    return total


def _cumprod(a):
    product = np.full(len(a), np.prod(a[:0]))
    for i in range(len(a)):
        if i > 0:
            product[i] = product[i - 1] * a[i]
        else:
            product[i] = a[i]
    return product


def _running_maximum(a):
    most = np.copy(a)
    for i in range(1, len(a)):
        most[i] = np.maximum(most[i - 1], a[i])
    return most


def _running_minimum(a):
    least = np.copy(a)
    for i in range(1, len(a)):
        least[i] = np.minimum(least[i - 1], a[i])
    return least


def _argmax(a):
    best = a[0]
    place = np.int64(0)
    for i in range(1, len(a)):
        if (a[i] > best) or (a[i] != a[i] and best == best):
            best = a[i]
            place = np.int64(i)
    return place


def _argmin(a):
    best = a[0]
    place = np.int64(0)
    for i in range(1, len(a)):
        if (a[i] < best) or (a[i] != a[i] and best == best):
            best = a[i]
            place = np.int64(i)
    return place


def _roll(a, shift):
    moved = np.empty(len(a), dtype=np.result_type(a, a))
    for i in range(len(a)):
        moved[i] = a[(i - shift) % len(a)]
    return moved


def _roll_rows(a, shift):
    moved = np.empty_like(a)
    for i in range(len(a)):
        for j in range(a.shape[1]):
            moved[i, j] = a[(i - shift) % len(a), j]
    return moved


def _roll_columns(a, shift):
    moved = np.empty_like(a)
    for i in range(len(a)):
        for j in range(a.shape[1]):
            moved[i, j] = a[i, (j - shift) % a.shape[1]]
    return moved


def _sums_of_columns(a):
    total = np.full(a.shape, np.sum(a[:0, :0]))
    for i in range(len(a)):
        for j in range(a.shape[1]):
            if i > 0:
                total[i, j] = total[i - 1, j] + a[i, j]
            else:
                total[i, j] = a[i, j]
    return total


def _sums_of_rows(a):
    total = np.full(a.shape, np.sum(a[:0, :0]))
    for i in range(len(a)):
        for j in range(a.shape[1]):
            if j > 0:
                total[i, j] = total[i, j - 1] + a[i, j]
            else:
                total[i, j] = a[i, j]
    return total


def _arange(stop):
    values = np.empty(stop, dtype=np.int64)
    for i in range(stop):
        values[i] = i
    return values


def _range(start, stop, step=1):
    values = np.empty(-((start - stop) // step), dtype=np.int64)
    for i in range(-((start - stop) // step)):
        values[i] = start + i * step
    return values


def _linspace(start, stop, num=50):
    values = np.empty(num)
    for i in range(num):
        if i == 0:
            values[i] = start * 1.0
        elif i < num - 1:
            values[i] = i * ((stop - start) / (num - 1)) + start
        else:
            values[i] = stop * 1.0
    return values


def _joined(a, b):
    both = np.empty(len(a) + len(b), dtype=np.result_type(a, b))
    both[: len(a)] = a
    both[len(a) :] = b
    return both


_FORMULAS: dict[Any, Callable[..., Any]] = {
    np.var: _var,
    np.std: _std,
    np.count_nonzero: _count_nonzero,
    np.any: _any,
    np.all: _all,
    np.diff: _diff,
    np.ptp: _ptp,
    np.sign: _sign,
    np.average: _average,
    np.flipud: _flipud,
    np.fliplr: _fliplr,
}
"""What is replaced by one expression of its arguments."""

_LOOPS: dict[Any, Callable[..., Any]] = {
    np.cumsum: _cumsum,
    np.cumprod: _cumprod,
    np.maximum.accumulate: _running_maximum,
    np.minimum.accumulate: _running_minimum,
    np.argmax: _argmax,
    np.argmin: _argmin,
    np.roll: _roll,
    np.arange: _arange,
    np.linspace: _linspace,
}
"""What is replaced by the statements of a function: over arrays of one dimension."""

_ALONG: dict[Any, Mapping[Any, Callable[..., Any]]] = {
    np.roll: {0: _roll_rows, 1: _roll_columns},
    np.cumsum: {0: _sums_of_columns, 1: _sums_of_rows},
}
"""The same with an `axis`, by its number: over arrays of two dimensions."""

_METHODS = {"var": np.var, "std": np.std, "cumsum": np.cumsum, "cumprod": np.cumprod} | {
    "argmax": np.argmax,
    "argmin": np.argmin,
}


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
            found = _METHODS.get(node.func.attr, MISSING)
            arguments.insert(0, node.func.value)
        formula, loops = _lookup(_FORMULAS, found), _lookup(_LOOPS, found)
        if found is np.arange and len(arguments) > 1:
            loops = _range
        kind = next((each.value for each in keywords if each.arg == "dtype"), None)
        if found is np.arange and kind is not None:
            keywords = [each for each in keywords if each.arg != "dtype"]
        axis = next((each for each in keywords if each.arg == "axis"), None)
        along = None if axis is None else _lookup(_ALONG, found)
        if along is not None and axis is not None and isinstance(axis.value, ast.Constant):
            loops = along.get(axis.value.value)
            keywords.remove(axis)
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
            result = _call(_joined, [result, each], [], node)
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


def _lookup(table: Mapping[Any, Found], found: object) -> Found | None:
    try:
        return table.get(found)
    except TypeError:  # an object without a hash
        return None
