"""Which calls of NumPy are contractions: sums of products over labelled axes, and their like."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from string import ascii_letters
from typing import TypeGuard

import numpy as np

from ..text.affine import Affine
from .captured import Captured
from .meanings import meant
from .source import PythonSource
from .views import same

Shape = tuple[Affine, ...]


@dataclass(frozen=True)
class Contraction:
    """A reduction of the product of `operands` over the labels that the result does not have.

    `kept` are the axes of the result that have extent 1, for `keepdims`.
    """

    kind: str
    operands: tuple[ast.expr, ...]
    labels: tuple[str, ...]
    result: str
    kept: tuple[int, ...] = ()


_KINDS: dict[Callable[..., object], str] = {
    np.sum: "sum",
    np.prod: "prod",
    np.mean: "mean",
    np.max: "max",
    np.min: "min",
    np.dot: "dot",
    np.vdot: "dot",
    np.inner: "inner",
    np.matmul: "matmul",
    np.einsum: "einsum",
    np.trace: "trace",
    np.linalg.norm: "norm",
}

_METHODS = {
    "sum": "sum",
    "prod": "prod",
    "mean": "mean",
    "max": "max",
    "min": "min",
    "dot": "dot",
    "trace": "trace",
}


@dataclass
class Contractions:
    """Recognises contractions in expressions."""

    source: PythonSource
    captured: Captured
    shape: Callable[[ast.expr], Shape]
    is_truth: Callable[[ast.expr], bool]
    _letters: str = field(default=ascii_letters, init=False)

    def kind(self, node: ast.expr) -> str | None:
        """What an expression is by its form; None for all that is no contraction."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            return "matmul"
        if not isinstance(node, ast.Call):
            return None
        found = self.captured.resolve(node.func)
        kind = next((kind for each, kind in _KINDS.items() if each is found), None)
        if kind is None and isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            array = node.func.value
            return _METHODS[node.func.attr] if self._selects(array) or self.shape(array) else None
        return kind

    def read(self, node: ast.expr) -> Contraction | None:
        """The contraction that an expression is; None for a product of numbers.

        Raises SourceError.
        """
        kind = self.kind(node)
        if isinstance(node, ast.BinOp):
            return self._product("matmul", [node.left, node.right], node)
        assert isinstance(node, ast.Call) and kind is not None
        arguments = list(node.args)
        if isinstance(node.func, ast.Attribute) and self.captured.resolve(node.func) not in _KINDS:
            arguments.insert(0, node.func.value)
        if kind == "einsum":
            return self._einsum(arguments, node)
        if kind == "trace":
            return self._trace(arguments, node)
        if kind in ("dot", "inner", "matmul"):
            if len(arguments) != 2 or node.keywords:
                raise self.source.error(node, f"'{ast.unparse(node.func)}' takes two arrays here")
            return self._product(kind, arguments, node)
        return self._reduction(kind, arguments, node)

    def _trace(self, arguments: list[ast.expr], node: ast.Call) -> Contraction:
        if len(arguments) != 1 or node.keywords or len(self.shape(arguments[0])) != 2:
            raise self.source.error(node, "'trace' takes a matrix here")
        return Contraction("sum", tuple(arguments), ("aa",), "")

    def _product(self, kind: str, operands: list[ast.expr], node: ast.expr) -> Contraction:
        left, right = (len(self.shape(each)) for each in operands)
        if not left or not right:
            raise self.source.error(node, "a product of matrices needs arrays", "write * instead")
        most = {"dot": 2, "inner": 1}.get(kind)
        if most is not None and max(left, right) > most:
            raise self.source.error(
                node, "arrays of so many dimensions are not supported here", "write np.einsum"
            )
        batch = self._letters[3 : 3 + max(left, right, 2) - 2]
        one = "a" if left == 1 else batch[len(batch) - (left - 2) :] + "ba"
        other = "a" if right == 1 else batch[len(batch) - (right - 2) :] + "ac"
        result = batch + ("b" if left > 1 else "") + ("c" if right > 1 else "")
        return Contraction("sum", tuple(operands), (one, other), result)

    def _einsum(self, arguments: list[ast.expr], node: ast.Call) -> Contraction:
        text = arguments[0].value if arguments and isinstance(arguments[0], ast.Constant) else None
        operands = arguments[1:]
        if not isinstance(text, str) or node.keywords:
            raise self.source.error(
                node, "'einsum' takes subscripts and arrays", 'write np.einsum("ij,jk->ik", A, B)'
            )
        text = text.replace(" ", "")
        inputs, arrow, result = text.partition("->")
        labels = inputs.split(",")
        if not arrow:
            result = "".join(sorted(x for x in set(inputs) - {","} if inputs.count(x) == 1))
        letters = set(inputs) - {","}
        fits = len(labels) == len(operands) and set(result) <= letters
        if not fits or not all(each in ascii_letters for each in letters):
            raise self.source.error(arguments[0], f"the subscripts '{text}' do not fit the arrays")
        if len(set(result)) != len(result):
            raise self.source.error(arguments[0], "the result has a subscript twice")
        for each, operand in zip(labels, operands, strict=True):
            if len(each) != len(self.shape(operand)):
                raise self.source.error(
                    operand,
                    f"'{each}' has {len(each)} subscripts, but '{ast.unparse(operand)}' has "
                    f"{len(self.shape(operand))}",
                )
        return Contraction("einsum", tuple(operands), tuple(labels), result)

    def _reduction(self, kind: str, arguments: list[ast.expr], node: ast.Call) -> Contraction:
        given = dict(zip(("array", "axis"), arguments, strict=False))
        given |= {each.arg or "**": each.value for each in node.keywords}
        if len(arguments) > 2 or set(given) - {"array", "axis", "keepdims"} or not arguments:
            raise self.source.error(
                node, f"'{ast.unparse(node.func)}' takes an array, axis= and keepdims= here"
            )
        if kind == "sum" and self._selects(given["array"]):
            if len(self.shape(given["array"].value)) > 1 and len(given) > 1:
                raise self.source.error(
                    node,
                    "what a mask selects has one dimension: leave out axis= and keepdims=",
                )
            given["array"] = self._selected(given["array"])
        rank = len(self.shape(given["array"]))
        if not rank:
            raise self.source.error(node, f"'{ast.unparse(node.func)}' takes an array here")
        axes = self._axes(given.get("axis"), rank)
        keep = given.get("keepdims")
        if keep is not None and not (
            isinstance(keep, ast.Constant) and isinstance(keep.value, bool)
        ):
            raise self.source.error(keep, "'keepdims' is True or False here")
        kept = axes if isinstance(keep, ast.Constant) and keep.value else ()
        labels = self._letters[:rank]
        result = "".join(label for axis, label in enumerate(labels) if axis not in axes)
        return Contraction(kind, (given["array"],), (labels,), result, tuple(kept))

    def _selects(self, node: ast.expr) -> TypeGuard[ast.Subscript]:
        """Whether an expression is the elements of an array that a mask selects."""
        if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Slice | ast.Tuple):
            return False
        return self.is_truth(node.slice) and bool(self.shape(node.slice))

    def _selected(self, node: ast.Subscript) -> ast.expr:
        """What is added up for the elements that a mask selects: zero for others.

        np.sum(A[A > 0])   ->   np.sum(np.where(A > 0, A, 0))
        """
        mask, extents = self.shape(node.slice), self.shape(node.value)
        if len(mask) != len(extents) or not all(map(same, mask, extents)):
            return node
        where = meant("np.where", np.where)
        chosen = ast.Call(where, [node.slice, node.value, ast.Constant(0)], [])
        for each in (where, chosen, chosen.args[2]):
            ast.copy_location(each, node)
        return chosen

    def _axes(self, node: ast.expr | None, rank: int) -> tuple[int, ...]:
        if node is None or (isinstance(node, ast.Constant) and node.value is None):
            return tuple(range(rank))
        written: Sequence[ast.expr] = node.elts if isinstance(node, ast.Tuple) else [node]
        axes: list[int] = []
        for each in written:
            try:
                value = ast.literal_eval(each)
            except ValueError:
                value = None
            if type(value) is not int or not -rank <= value < rank or value % rank in axes:
                raise self.source.error(each, f"an axis is a number below {rank} here")
            axes.append(value % rank)
        return tuple(axes)
