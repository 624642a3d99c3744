"""Elements at subscripts that depend on data: `A[I[i]]`."""

from __future__ import annotations

import ast
from itertools import chain

from ..text.affine import Affine, Index
from .accesses import Accesses, Read
from .evaluator import Evaluator
from .values import Constant, Scalar, Value
from .views import ONE, ZERO, View, same


class Gathers:
    """Evaluates elements that are read at subscripts that depend on data."""

    def __init__(self, expressions: Evaluator, accesses: Accesses) -> None:
        self.expressions = expressions
        self.accesses = accesses
        self.source = expressions.source
        self.emitter = expressions.emitter
        self.guards = expressions.guards

    def base(self, node: ast.Subscript) -> View | None:
        """The array, where a subscript depends on data, or is an array beside whole axes."""
        written = subscripts(node)
        arrays = [each for each in written if self._is_array(each)]
        if len(arrays) > 1 or not (arrays or any(self._is_data(each) for each in written)):
            return None
        base = self.expressions.view(node.value)
        if base is None or len(written) > base.rank or not all(map(_is_item, written)):
            return None
        has_slices = len(written) < base.rank or any(map(_is_all, written))
        has_numbers = any(each not in arrays and not _is_all(each) for each in written)
        return None if arrays and has_slices and has_numbers else base

    def shape(self, node: ast.Subscript) -> tuple[Affine, ...] | None:
        """The extents of such elements; None for all else."""
        base = self.base(node)
        return None if base is None else tuple(chain.from_iterable(self._extents(node, base)))

    def _extents(self, node: ast.Subscript, base: View) -> list[tuple[Affine, ...]]:
        """The extents that come from each axis of the array."""
        items = _items(node, base)
        return [
            (extent,) if _is_all(each) else self.expressions.shape(each)
            for each, extent in zip(items, base.extents, strict=True)
        ]

    def is_view(self, node: ast.expr) -> bool:
        """Whether NumPy gives a view: where the subscripts that depend on data are numbers."""
        if not isinstance(node, ast.Subscript) or not self.shape(node):
            return False
        return not any(map(self.expressions.shape, subscripts(node)))

    def _is_array(self, node: ast.expr) -> bool:
        """Whether a subscript is an array of numbers, and no mask: `x[J]`."""
        if isinstance(node, ast.Slice | ast.Compare | ast.BoolOp | ast.UnaryOp):
            return False
        return bool(self.expressions.shape(node)) and not self.expressions.is_truth(node)

    def _is_data(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Slice) or self.expressions.shape(node):
            return False
        return self.reads(node) or any(
            self._is_product(each) for each in ast.walk(node) if isinstance(each, ast.BinOp)
        )

    def reads(self, node: ast.expr) -> bool:
        """Whether a number of the kernel, or an element, is part of an expression."""
        return any(
            self.expressions.is_data(each)
            for each in ast.walk(node)
            if isinstance(each, ast.Name | ast.Subscript)
        )

    def _is_product(self, node: ast.BinOp) -> bool:
        """Whether it multiplies loop variables, or has a remainder by what is no constant.

        What else is not affine has a remedy that the message tells.
        """
        if isinstance(node.op, ast.Mult):
            return self._varies(node.left) and self._varies(node.right)
        if not isinstance(node.op, ast.Mod):
            return False
        return not isinstance(self.expressions.static(node.right), Constant)

    def _varies(self, node: ast.expr) -> bool:
        """Whether an integer changes with a loop."""
        found = self.expressions.static(node)
        return isinstance(found, Index) and any(
            not name.symbol for part in found.parts for name in part.names()
        )

    def element(self, node: ast.Subscript, base: View) -> Scalar:
        """The element; raises SourceError, NotAffine."""
        self.emitter.require_operations(node, f"'{ast.unparse(node)}' is data")
        rank = len(self.expressions.shape(node))
        if rank > len(self.expressions.point):
            raise self.source.error(
                node,
                f"'{ast.unparse(node)}' is an array of {rank} dimension{'s'[: rank - 1]} here",
                "write a loop over its elements",
            )
        self.accesses.reads.append(Read(node, base.array, rank, None))
        return self.accesses.loaded(f"memref.load {self.place(node, base)}", base, node)

    def place(self, node: ast.Subscript, base: View) -> str:
        """The element as an operand of a load or store; raises SourceError, NotAffine."""
        if not self._has_whole_axes(base):
            raise self.source.error(
                node,
                "a subscript that depends on data, of a slice",
                "write the subscript of the array itself",
            )
        indices = self._indices(node, base)
        operands = [
            self.guards.affine(each.start, node) if each.axis is None else indices[each.axis]
            for each in base.subscripts
        ]
        kind = base.array.type
        return f"%{base.array.name}[{', '.join(operands)}] : {kind.mlir}"

    def _indices(self, node: ast.Subscript, base: View) -> list[str]:
        """The subscripts of each axis, at the point where the elements are."""
        parts = self._extents(node, base)
        own = self.expressions.point
        own = own[len(own) - sum(map(len, parts)) :]
        indices: list[str] = []
        for each, part in zip(_items(node, base), parts, strict=True):
            point, own = own[: len(part)], own[len(part) :]
            if _is_all(each):
                indices.append(self.guards.affine(ZERO if part == (ONE,) else point[0], node))
                continue
            with self.expressions.at(point):
                indices.append(self.index(each))
        return indices

    def _has_whole_axes(self, base: View) -> bool:
        """Whether each axis is a dimension of the array: extents of that are what is compared."""
        array = base.array
        if base.reshaped is not None:
            return False
        extents = array.sizes or self.accesses.argument(array).extents
        axes = [
            each.axis
            for each, extent in zip(base.subscripts, extents, strict=True)
            if each.axis is not None
            and (each.start, each.step) == (ZERO, 1)
            and same(base.extents[each.axis], extent)
        ]
        return sorted(axes) == list(range(base.rank))

    def index(self, node: ast.expr, what: str = "a subscript") -> str:
        """An integer as a value of type index; raises SourceError."""
        value: Value = self.expressions.value(node)
        if isinstance(value, Index) and value.affine is not None:
            return self.guards.affine(value.affine, node)
        if isinstance(value, Constant) and isinstance(value.value, int):
            return self.guards.affine(ONE.times(value.value), node)
        if not isinstance(value, Scalar) or value.element.is_float or value.element.is_truth:
            raise self.source.error(
                node,
                f"{what} must be an integer",
                "write int(...) around it, or // for the floor of a quotient",
            )
        element = value.element
        return self.guards.index(value.name, element.mlir, unsigned=element.is_unsigned, node=node)


def subscripts(node: ast.Subscript) -> list[ast.expr]:
    """What is written between the brackets, for each axis."""
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def _items(node: ast.Subscript, base: View) -> list[ast.expr]:
    """One subscript for each axis: those that are not written are whole."""
    written = subscripts(node)
    return [*written, *(ast.Slice() for _ in range(base.rank - len(written)))]


def _is_all(node: ast.expr) -> bool:
    return isinstance(node, ast.Slice) and node.lower is node.upper is node.step is None


def _is_item(node: ast.expr) -> bool:
    """Whether a subscript is a number, an array or all of an axis."""
    is_new = isinstance(node, ast.Constant) and (node.value is None or node.value is ...)
    return not is_new and (_is_all(node) or not isinstance(node, ast.Slice))
