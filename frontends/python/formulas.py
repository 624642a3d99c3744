"""Calls of functions of NumPy as their formulas, and as calls of functions with loops."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, TypeVar, cast

import numpy as np

from .array_formulas import array_formula, bound_arguments, call_of, literal_of
from .captured import MISSING, Captured
from .element_types import dtype
from .functions import known
from .meanings import copied, meant, placed
from .numpy_arrays import EYE
from .numpy_formulas import FORMULAS
from .numpy_functions import ARANGE_BETWEEN, LOOPS, METHODS, VARIANTS
from .source import PythonSource

Found = TypeVar("Found")

_TYPED: Mapping[str, Any] = {"sum": np.sum, "prod": np.prod, "mean": np.mean}
"""Reductions that may be of another type than their elements."""


class Formulas(ast.NodeTransformer):
    """Replaces calls of formulas by their expressions, and those of loops by calls of these."""

    def __init__(self, captured: Captured) -> None:
        self.captured = captured

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """A call, or what it is replaced by; others stay, and have their messages later."""
        self.generic_visit(node)
        typed = self._of_type(node)
        if typed is not None:
            return typed
        arguments, keywords = list(node.args), list(node.keywords)
        found = self.captured.resolve(node.func)
        if found is MISSING and isinstance(node.func, ast.Attribute):
            found = METHODS.get(node.func.attr, MISSING)
            arguments.insert(0, node.func.value)
        formula, loops = _lookup(FORMULAS, found), _lookup(LOOPS, found)
        if found is np.arange and len(arguments) > 1:
            loops = ARANGE_BETWEEN
        if found is np.eye and len(arguments) > 1:
            loops = EYE
        kind = next((each.value for each in keywords if each.arg == "dtype"), None)
        has_kind = found in (np.arange, np.eye, np.identity) and kind is not None
        if has_kind:
            keywords = [each for each in keywords if each.arg != "dtype"]
        variants = _lookup(VARIANTS, found)
        if variants is not None:
            name, position, functions = variants
            written = _take(name, position, arguments, keywords)
            if written is not None:
                variant = _lookup(functions, literal_of(written))
                if loops is None:
                    formula = variant if callable(variant) else None
                else:
                    formula, loops = None, variant
        array = array_formula(found, arguments, keywords, node)
        if array is not None:
            return array
        one = loops if loops is None or callable(loops) else next(iter(loops.values()))
        bound = bound_arguments(formula or one, arguments, keywords)
        if bound is None:
            return node if node.args == arguments else _of_method(found, arguments, node)
        bound.apply_defaults()
        if formula is not None:
            (returned,) = PythonSource.of(formula).parse().body
            assert isinstance(returned, ast.Return) and returned.value is not None
            return cast(ast.expr, _Arguments(bound.arguments, node).visit(returned.value))
        assert loops is not None
        call = call_of(loops, arguments, keywords, node)
        if has_kind:
            converted = ast.Attribute(call, "astype", ast.Load())
            call = ast.Call(ast.copy_location(converted, node), [cast(ast.expr, kind)], [])
        return ast.copy_location(call, node)

    def _of_type(self, node: ast.Call) -> ast.expr | None:
        """A sum of elements in another type, `np.sum(A, dtype=f64)`: one of converted elements."""
        kind = next((each.value for each in node.keywords if each.arg == "dtype"), None)
        element = None if kind is None else dtype(self.captured.resolve(kind))
        found = self.captured.resolve(node.func)
        called = node.func
        method = called if found is MISSING and isinstance(called, ast.Attribute) else None
        if method is not None:
            found = _TYPED.get(method.attr)
        if element is None or kind is None or not any(found is each for each in _TYPED.values()):
            return None
        operand = node.args[0] if method is None else method.value
        cast_ = ast.Call(ast.Attribute(operand, "astype", ast.Load()), [kind], [])
        rest = [each for each in node.keywords if each.arg != "dtype"]
        name = meant(ast.unparse(node.func), found)
        reduced = ast.Call(name, [cast_, *node.args[method is None :]], rest)
        result = ast.Call(meant(str(element), element), [reduced], [])
        return placed(result, node)

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        """A function that stores its result: `np.add(x, y, out=z)` is `z[...] = np.add(x, y)`."""
        call = node.value
        target = None
        if isinstance(call, ast.Call):
            function = known(self.captured.resolve(call.func))
            for each in call.keywords:
                if each.arg == "out" and function is not None and function.elementwise:
                    target = each.value
                    call.keywords.remove(each)
        self.generic_visit(node)
        if target is None:
            return node
        whole = ast.Subscript(target, ast.Constant(...), ast.Store())
        for each in (whole, whole.slice):
            ast.copy_location(each, target)
        return ast.copy_location(ast.Assign([whole], node.value), node)


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
                return copied(found)
            if found is not MISSING:
                return ast.copy_location(ast.Constant(cast(Any, found)), self.node)
            node = meant(node.id, np)
        ast.copy_location(node, self.node)
        return super().visit(node)


def _of_method(found: object, arguments: list[ast.expr], node: ast.Call) -> ast.expr:
    """The function of NumPy that a method is, where kernels may call it."""
    if known(found) is None:
        return node
    function = ast.copy_location(meant(ast.unparse(node.func), found), node.func)
    return ast.copy_location(ast.Call(function, arguments, node.keywords), node)


def _take(
    name: str, position: int, arguments: list[ast.expr], keywords: list[ast.keyword]
) -> ast.expr | None:
    """Removes an argument from those of a call; None where it is not among them."""
    for each in keywords:
        if each.arg == name:
            keywords.remove(each)
            return each.value
    return arguments.pop(position) if len(arguments) > position else None


def _lookup(table: Mapping[Any, Found], found: object) -> Found | None:
    try:
        return table.get(found)
    except TypeError:  # an object without a hash
        return None
