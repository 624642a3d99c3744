"""Calls of functions of NumPy that take several arrays, or tuples of numbers, as others."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from .captured import MISSING
from .joined_arrays import RANKS, joining
from .local_functions import FunctionByRank, PlainFunction
from .meanings import copied, meant, placed
from .numpy_arrays import AVERAGES, COLUMNS, PADDED, ROWS, ByRank
from .source import PythonSource

_MOST = 64
"""Parts that are joined one by one."""


def array_formula(
    found: object, arguments: Sequence[ast.expr], keywords: Sequence[ast.keyword], node: ast.Call
) -> ast.expr | None:
    """What a call of such a function is replaced by; None for all else."""
    formula = next((each for function, each in _FORMULAS.items() if function is found), None)
    bound = bound_arguments(formula, (node, *arguments), keywords)
    return None if formula is None or bound is None else formula(*bound.args, **bound.kwargs)


def _concatenate(node: ast.Call, parts: ast.expr, axis: ast.expr | None = None) -> ast.expr | None:
    return _joined(_elements(parts), _axes(axis), node)


def _stack(node: ast.Call, parts: ast.expr, axis: ast.expr | None = None) -> ast.expr | None:
    axes, place = _axes(axis), 0 if axis is None else literal_of(axis)
    if not isinstance(place, int) or not axes:
        return None
    before = [ast.Constant(...)] if place < 0 else [ast.Slice() for _ in range(place)]
    index = ast.Tuple([*before, ast.Constant(None)], ast.Load())
    new = [ast.Subscript(each, copied(index), ast.Load()) for each in _elements(parts)]
    return _joined([placed(each, node) for each in new], axes, node)


def _vstack(node: ast.Call, parts: ast.expr) -> ast.expr | None:
    rows = [call_of(ROWS, [each], [], node) for each in _elements(parts)]
    return _joined(rows, {2: 0}, node)


def _column_stack(node: ast.Call, parts: ast.expr) -> ast.expr | None:
    columns = [call_of(COLUMNS, [each], [], node) for each in _elements(parts)]
    return _joined(columns, {2: 1}, node)


def _hstack(node: ast.Call, parts: ast.expr) -> ast.expr | None:
    return _joined(_elements(parts), {1: 0, 2: 1, 3: 1}, node)


def _tile(node: ast.Call, array: ast.expr, reps: ast.expr) -> ast.expr | None:
    count = literal_of(reps)
    if not isinstance(count, int) or count < 1:
        return None
    return _joined([copied(array) for _ in range(count)], {1: 0}, node)


def _pad(
    node: ast.Call,
    array: ast.expr,
    pad_width: ast.expr,
    mode: ast.expr | None = None,
    constant_values: ast.expr | None = None,
) -> ast.expr | None:
    name = "constant" if mode is None else literal_of(mode)
    if name not in PADDED or (constant_values is not None and name != "constant"):
        return None
    functions, others = PADDED[str(name)]
    axes = [each for each in _elements(pad_width) if isinstance(each, ast.Tuple | ast.List)]
    if axes:
        functions = {len(axes): functions[len(axes)]} if len(axes) in functions else functions
        pairs = [_pair(each) for each in axes]
    else:
        pairs = [_pair(pad_width)]
    widths = [copied(each) for pair in (pairs[0], pairs[-1]) for each in pair]
    more = [placed(ast.Constant(each), node) for each in others]
    if name == "constant":
        more = [constant_values or placed(ast.Constant(0), node)]
    return call_of(functions, [array, *widths, *more], [], node)


def _pair(width: ast.expr) -> tuple[ast.expr, ast.expr]:
    """The elements of axis that are added before and behind."""
    parts = _elements(width) or [width]
    return parts[0], parts[-1]


def _select(
    node: ast.Call, condlist: ast.expr, choicelist: ast.expr, default: ast.expr | None = None
) -> ast.expr | None:
    tests, choices = _elements(condlist), _elements(choicelist)
    if len(tests) != len(choices) or not tests:
        return None
    result = default or placed(ast.Constant(0), node)
    for test, choice in zip(reversed(tests), reversed(choices), strict=True):
        where = ast.copy_location(meant(ast.unparse(node.func), np.where), node)
        result = ast.Call(where, [test, choice, result], [])
        ast.copy_location(result, node)
    return result


def _round(node: ast.Call, array: ast.expr, decimals: ast.expr | None = None) -> ast.expr | None:
    return _call(np.round, [array, decimals or placed(ast.Constant(0), node)], node)


def _clip(
    node: ast.Call, array: ast.expr, a_min: ast.expr | None = None, a_max: ast.expr | None = None
) -> ast.expr | None:
    bounds = [each for each in (a_min, a_max) if each is not None and not _is_none(each)]
    if len(bounds) == 2:
        return _call(np.clip, [array, *bounds], node)
    is_lower = a_min is not None and not _is_none(a_min)
    return _call(np.maximum if is_lower else np.minimum, [array, *bounds], node) if bounds else None


def _nan_to_num(
    node: ast.Call,
    array: ast.expr,
    copy: ast.expr | None = None,
    nan: ast.expr | None = None,
    posinf: ast.expr | None = None,
    neginf: ast.expr | None = None,
) -> ast.expr | None:
    is_copy = copy is None or (isinstance(copy, ast.Constant) and copy.value is True)
    if not is_copy or (posinf is None) != (neginf is None):
        return None
    given = [nan or placed(ast.Constant(0.0), node), posinf, neginf]
    return _call(np.nan_to_num, [array, *(each for each in given if each is not None)], node)


def _average(
    node: ast.Call,
    array: ast.expr,
    axis: ast.expr | None = None,
    weights: ast.expr | None = None,
    *,
    keepdims: ast.expr | None = None,
) -> ast.expr | None:
    if weights is None or keepdims is not None:
        return None
    place = None if axis is None else literal_of(axis)
    functions = AVERAGES.get(place) if isinstance(place, int | None) else None
    return None if functions is None else call_of(functions, [weights, array], [], node)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _call(function: Callable[..., Any], arguments: list[ast.expr], node: ast.Call) -> ast.expr:
    name = ast.copy_location(meant(ast.unparse(node.func), function), node.func)
    return ast.copy_location(ast.Call(name, arguments, []), node)


_FORMULAS: Mapping[Any, Callable[..., ast.expr | None]] = {
    np.round: _round,
    np.around: _round,
    np.clip: _clip,
    np.nan_to_num: _nan_to_num,
    np.average: _average,
    np.concatenate: _concatenate,
    np.stack: _stack,
    np.vstack: _vstack,
    np.hstack: _hstack,
    np.column_stack: _column_stack,
    np.tile: _tile,
    np.pad: _pad,
    np.select: _select,
}


def _elements(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple | ast.List) else []


def _axes(node: ast.expr | None) -> Mapping[int, int]:
    """The literal axis of arrays of each rank."""
    axis = 0 if node is None else literal_of(node)
    return {rank: axis for rank in RANKS if isinstance(axis, int) and -rank <= axis < rank}


def _joined(parts: Sequence[ast.expr], axes: Mapping[int, int], node: ast.Call) -> ast.expr | None:
    if not axes or not 0 < len(parts) <= _MOST:
        return None
    return call_of(joining(len(parts), *axes.items()), list(parts), [], node)


def call_of(
    function: Callable[..., Any] | ByRank | FunctionByRank,
    arguments: list[ast.expr],
    keywords: list[ast.keyword],
    node: ast.Call,
) -> ast.Call:
    """A call of a function with the position, and the name in messages, of the one that it is."""
    called = ast.copy_location(meant(ast.unparse(node.func), _meaning(function)), node.func)
    return ast.copy_location(ast.Call(called, arguments, keywords), node)


def _meaning(
    function: Callable[..., Any] | ByRank | FunctionByRank,
) -> PlainFunction | FunctionByRank:
    if isinstance(function, FunctionByRank):
        return function
    if callable(function):
        return _function(function)
    return FunctionByRank({rank: _function(each) for rank, each in function.items()})


@cache
def _function(function: Callable[..., Any]) -> PlainFunction:
    return PlainFunction(
        function, PythonSource.of(function), function.__globals__, of_language=True
    )


def bound_arguments(
    function: Callable[..., Any] | None,
    arguments: Sequence[object],
    keywords: Sequence[ast.keyword],
) -> inspect.BoundArguments | None:
    """What the parameters of a function are; None where the call does not fit."""
    if function is None:
        return None
    try:
        named = {each.arg or "**": each.value for each in keywords}
        return inspect.signature(function).bind(*arguments, **named)
    except TypeError:
        return None


def literal_of(node: ast.expr) -> object:
    """The value of a literal; MISSING for all else, also where it only equals an integer."""
    try:
        value = ast.literal_eval(node)
    except (TypeError, ValueError):
        return MISSING
    return MISSING if isinstance(value, bool | float) else value
