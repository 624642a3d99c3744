"""Expressions that are views of arrays: transposes, diagonals, parts of complex numbers."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .accesses import Accesses
from .array_formulas import literal_of
from .evaluator import Evaluator
from .functions import PARTS
from .reshape_forms import RESHAPES, ReshapeForms
from .views import View, same

_CONJUGATES = ("conj", "conjugate")
_METHODS = ("transpose", "swapaxes", "reshape", "ravel", "flatten", "squeeze", *_CONJUGATES)
_FUNCTIONS = {
    np.asarray: "asarray",
    np.transpose: "transpose",
    np.swapaxes: "swapaxes",
    np.reshape: "reshape",
    np.ravel: "ravel",
    np.squeeze: "squeeze",
    np.expand_dims: "expand_dims",
    np.real: "real",
    np.imag: "imag",
}


class ViewForms:
    """Recognises what NumPy gives without a copy; names for that see later stores."""

    def __init__(self, expressions: Evaluator, accesses: Accesses) -> None:
        self.expressions = expressions
        self.reshapes = ReshapeForms(expressions, accesses)

    def of(self, node: ast.expr) -> View | None:
        """The view that an attribute or a call is; None for all else."""
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        return None

    def copied(self, node: ast.expr) -> ast.expr | None:
        """The array that an expression copies, such as `A.copy()`; None for all else.

        That of `np.transpose(A.copy())` is `np.transpose(A)`.
        """
        if not isinstance(node, ast.Call) or node.keywords:
            return None
        name, operands = self._form(node)
        if name == "flatten":
            return self._flat(node, operands)
        if name:
            inner = self.copied(operands[0]) if operands else None
            return None if inner is None else _of_another(node, operands[0], inner)
        found = self.expressions.captured.resolve(node.func)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "copy" and not node.args:
            array = node.func.value
        elif _is_one(found, (np.copy, np.array)) and len(node.args) == 1:
            array = node.args[0]
        else:
            return None
        return array if self.expressions.shape(array) else None

    def _flat(self, node: ast.Call, operands: list[ast.expr]) -> ast.expr | None:
        """What `A.flatten()` copies: `A.ravel()`."""
        if len(operands) != 1 or not self.expressions.shape(operands[0]):
            return None
        method = ast.copy_location(ast.Attribute(operands[0], "ravel", ast.Load()), node.func)
        return ast.copy_location(ast.Call(method, [], []), node)

    def is_reshape(self, node: ast.Call) -> bool:
        """Whether a call is another shape of its operand, which must have memory then."""
        return self._form(node)[0] in (*RESHAPES, "flatten")

    def _attribute(self, node: ast.Attribute) -> View | None:
        if node.attr not in ("T", *PARTS):
            return None
        base = self.expressions.view(node.value)
        if base is None or node.attr in PARTS:
            return None if base is None else _part(base, node.attr)
        return base.transposed(range(base.rank)[::-1])

    def _call(self, node: ast.Call) -> View | None:
        found = self.expressions.captured.resolve(node.func)
        if found is np.einsum:
            return self._einsum(node)
        if found is np.broadcast_to:
            return self._broadcast(node)
        name, operands = self._form(node)
        base = self.expressions.view(operands[0]) if name and operands else None
        if base is None or not base.rank:
            return None
        arguments = operands[1:]
        if name in RESHAPES:
            return self.reshapes.view(name, base, operands, node)
        if node.keywords or name == "flatten":
            return None
        if name in PARTS:
            return _part(base, name)
        if name == "asarray" or name in _CONJUGATES:  # that of real numbers is the array itself
            is_new = name in _CONJUGATES and base.element_type.is_complex
            return None if is_new or arguments else base
        order = _order(arguments, base.rank, swaps=name == "swapaxes")
        return None if order is None else base.transposed(order)

    def _form(self, node: ast.Call) -> tuple[str, list[ast.expr]]:
        """The name of a function or method that gives a view, and its operands; "" for others."""
        found = self.expressions.captured.resolve(node.func)
        name = next((name for each, name in _FUNCTIONS.items() if each is found), "")
        if name or not isinstance(node.func, ast.Attribute):
            return name, node.args
        return node.func.attr if node.func.attr in _METHODS else "", [node.func.value, *node.args]

    def _einsum(self, node: ast.Call) -> View | None:
        """Axes in another order, and diagonals: `np.einsum("ijj->ji", A)`."""
        text = literal_of(node.args[0]) if len(node.args) == 2 and not node.keywords else None
        base = self.expressions.view(node.args[1]) if isinstance(text, str) else None
        if base is None or not isinstance(text, str):
            return None
        labels, arrow, result = text.replace(" ", "").partition("->")
        if not arrow or len(labels) != base.rank or sorted(set(labels)) != sorted(result):
            return None
        for label, extent in zip(labels, base.extents, strict=True):
            if not same(extent, base.extents[labels.index(label)]):
                return None
        axes = [result.index(label) for label in labels]
        extents = [base.extents[labels.index(label)] for label in result]
        return base.along(axes, extents)

    def _broadcast(self, node: ast.Call) -> View | None:
        """Elements that stand for several: `np.broadcast_to(x, A.shape)`, which is read-only."""
        if len(node.args) != 2 or node.keywords:
            return None
        array, shape = node.args
        base, known = self.expressions.view(array), self.expressions.extents(shape)
        if known is None:
            written = shape.elts if isinstance(shape, ast.Tuple | ast.List) else [shape]
            known = tuple(self.expressions.affine(each, "an extent") for each in written)
        return None if base is None else base.broadcast_to(known)


def _is_one(found: object, functions: Sequence[object]) -> bool:
    return any(found is each for each in functions)


def _of_another(node: ast.Call, operand: ast.expr, other: ast.expr) -> ast.expr:
    """A call of a function or method with another operand."""
    function = node.func
    if isinstance(function, ast.Attribute) and function.value is operand:
        function = ast.copy_location(ast.Attribute(other, function.attr, function.ctx), function)
    arguments = [other if each is operand else each for each in node.args]
    return ast.copy_location(ast.Call(function, arguments, []), node)


def _part(base: View, name: str) -> View | None:
    """The real or imaginary part; the real part of real numbers is the array itself."""
    if not base.element_type.is_complex:
        return base if name == "real" else None
    return replace(base, part=PARTS[name])


def _order(arguments: Sequence[ast.expr], rank: int, *, swaps: bool) -> list[int] | None:
    """The axes of a transpose; None where they are no literals that fit."""
    order = list(range(rank))
    if not arguments and not swaps:
        return order[::-1]
    if len(arguments) == 1 and isinstance(arguments[0], ast.Tuple):
        arguments = arguments[0].elts
    axes = [literal_of(each) for each in arguments]
    numbers = [each % rank for each in axes if isinstance(each, int) and -rank <= each < rank]
    if len(numbers) != len(axes):
        return None
    if swaps:
        if len(numbers) != 2:
            return None
        one, other = numbers
        order[one], order[other] = other, one
        return order
    return numbers if sorted(numbers) == order else None
