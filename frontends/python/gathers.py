"""Elements at subscripts that depend on data: `A[I[i]]`."""

from __future__ import annotations

import ast

from ..text.affine import Index
from .accesses import Accesses
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
        """The array, where each dimension has one subscript, and one of them depends on data."""
        written = _subscripts(node)
        whole = len(written) == 1 and self._is_array(written[0])
        if not whole and not any(self._is_data(each) for each in written):
            return None
        base = self.expressions.view(node.value)
        if base is None or len(written) != base.rank:
            return None
        return base

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
        return self.accesses.loaded(f"memref.load {self.place(node, base)}", base, node)

    def place(self, node: ast.Subscript, base: View) -> str:
        """The element as an operand of a load or store; raises SourceError, NotAffine."""
        if not self._has_whole_axes(base):
            raise self.source.error(
                node,
                "a subscript that depends on data, of a slice",
                "write the subscript of the array itself",
            )
        indices = [self.index(each) for each in _subscripts(node)]
        operands = [
            self.guards.affine(each.start, node) if each.axis is None else indices[each.axis]
            for each in base.subscripts
        ]
        kind = base.array.type
        return f"%{base.array.name}[{', '.join(operands)}] : {kind.mlir}"

    def _has_whole_axes(self, base: View) -> bool:
        """Whether each axis is a dimension of the array: extents of that are what is compared."""
        array = base.array
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


def _subscripts(node: ast.Subscript) -> list[ast.expr]:
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
