"""Assignments to the elements that a mask selects, as choices of all elements."""

from __future__ import annotations

import ast
import copy
from typing import cast

import numpy as np

from .evaluator import Evaluator
from .views import same, spelled_shape


def is_mask(expressions: Evaluator, target: ast.expr) -> bool:
    """Whether a target is the elements of an array that a mask selects."""
    return (
        isinstance(target, ast.Subscript)
        and not isinstance(target.slice, ast.Slice | ast.Tuple)
        and expressions.is_truth(target.slice)
        and bool(expressions.shape(target.slice))
    )


def choice(
    expressions: Evaluator, target: ast.expr, node: ast.Assign | ast.AugAssign
) -> tuple[ast.expr, ast.Assign]:
    """The array and the assignment to all of it; raises SourceError.

    `A[A < 0] += B[A < 0]`   ->   `A[...] = np.where(A < 0, A + B, A)`
    """
    assert isinstance(target, ast.Subscript)
    array, mask = target.value, target.slice
    shape, extents = expressions.shape(mask), expressions.shape(array)
    if len(shape) != len(extents) or not all(map(same, shape, extents)):
        raise expressions.source.error(
            mask,
            f"a mask of shape {spelled_shape(shape)} for an array of shape "
            f"{spelled_shape(extents)}",
            "write np.where with the mask's axes spelled out, such as mask[:, None]",
        )
    value = cast(ast.expr, _Selected(mask).visit(_copied(expressions, node.value)))
    if not _Selected.any_in(value) and expressions.shape(value):
        raise expressions.source.error(
            node.value,
            "the elements of an array where a mask selects some",
            "give the right side the same mask: A[mask] = B[mask]",
        )
    if isinstance(node, ast.AugAssign):
        old = _copied(expressions, array)
        value = ast.copy_location(ast.BinOp(old, node.op, value), node.value)
    where = ast.Name("np.where", ast.Load())
    where.meaning = np.where  # pyright: ignore[reportAttributeAccessIssue]
    chosen = ast.Call(where, [mask, value, _copied(expressions, array)], [])
    for each in (where, chosen):
        ast.copy_location(each, node.value)
    whole = ast.copy_location(ast.Subscript(array, ast.Constant(...), ast.Store()), target)
    ast.copy_location(whole.slice, target)
    return whole, ast.copy_location(ast.Assign([whole], chosen), node)


def _copied(expressions: Evaluator, node: ast.expr) -> ast.expr:
    """A copy, with the same local variables."""
    new = copy.deepcopy(node)
    for one, other in zip(ast.walk(node), ast.walk(new), strict=True):
        if isinstance(one, ast.Name) and one in expressions.variables:
            expressions.variables[cast(ast.Name, other)] = expressions.variables[one]
    return new


class _Selected(ast.NodeTransformer):
    """Replaces `B[mask]` by `B`, for one mask."""

    def __init__(self, mask: ast.expr) -> None:
        self.mask = ast.dump(mask)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """An element or a slice."""
        if ast.dump(node.slice) != self.mask:
            return cast(ast.expr, self.generic_visit(node))
        node.value.selected = True  # pyright: ignore[reportAttributeAccessIssue]
        return node.value

    @staticmethod
    def any_in(node: ast.expr) -> bool:
        """Whether something was replaced."""
        return any(getattr(each, "selected", False) for each in ast.walk(node))
