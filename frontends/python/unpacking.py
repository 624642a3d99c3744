"""Rows as several values: `r, g, b = image[y, x]`, `dx, dy = p[i] - p[j]`."""

from __future__ import annotations

import ast

from ..text.affine import Affine
from .expressions import Expressions
from .loop_forms import place_at
from .source import PythonSource
from .views import ONE


def elements_of_row(
    node: ast.expr, count: int, expressions: Expressions, source: PythonSource
) -> list[ast.expr] | None:
    """The elements of an expression that is an array of one dimension; None for others.

    Calls refuse arrays of another length than `count`, as Python does.
    """
    shape = expressions.shape(node)
    if len(shape) != 1:
        return None
    parts = [_element(node, each, expressions) for each in range(count)]
    elements = [each for each in parts if each is not None]
    if len(elements) < count:
        return None
    spelled = ast.unparse(node)
    error = source.error(node, f"{count} variables, but '{spelled}' has another number of elements")
    (extent,) = shape
    for least in (
        extent.plus(Affine(constant=-count - 1)),
        extent.times(-1).plus(Affine(constant=count - 1)),
    ):
        if not least.terms and least.constant >= 0:
            raise error
        expressions.accesses.refuse([least], error)
    return elements


def _element(node: ast.expr, position: int, expressions: Expressions) -> ast.expr | None:
    """An element of a row, of an expression that may be evaluated for each."""
    shape = expressions.shape(node)
    if shape == (ONE,):  # all elements of the row beside it meet the only one
        position = 0
    if not shape:
        is_plain = not any(isinstance(e, ast.Call | ast.NamedExpr) for e in ast.walk(node))
        return node if is_plain else None
    if expressions.view(node) is not None:
        return place_at(ast.Subscript(node, ast.Constant(position), ast.Load()), node)
    if isinstance(node, ast.Subscript):  # by numbers from memory
        written = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(isinstance(e, ast.Slice) or expressions.shape(e) for e in written):
            return None
        subscripts = ast.Tuple([*written, ast.Constant(position)], ast.Load())
        return place_at(ast.Subscript(node.value, subscripts, ast.Load()), node)
    operands: list[ast.expr | None]
    if isinstance(node, ast.BinOp):
        operands = [_element(each, position, expressions) for each in (node.left, node.right)]
        if operands[0] is not None and operands[1] is not None:
            return place_at(ast.BinOp(operands[0], node.op, operands[1]), node)
    if isinstance(node, ast.UnaryOp):
        operand = _element(node.operand, position, expressions)
        return None if operand is None else place_at(ast.UnaryOp(node.op, operand), node)
    return None
