"""Elements at subscripts that depend on data: `A[I[i]]`."""

from __future__ import annotations

import ast
from collections.abc import Generator
from contextlib import contextmanager

from ..text.affine import Affine, Index, map_text
from .evaluator import Evaluator
from .values import Constant, Scalar, Value
from .views import ONE, View


class Gathers:
    """Evaluates elements that are read at subscripts that depend on data.

    Values that a condition chooses are computed always. What is read where the condition does not
    hold is element 0: the subscript need not be one then.
    """

    def __init__(self, expressions: Evaluator) -> None:
        self.expressions = expressions
        self.source = expressions.source
        self.emitter = expressions.emitter
        self._conditions: list[tuple[str, bool]] = []

    @contextmanager
    def under(self, truth: str, holds: bool) -> Generator[None]:
        """Meanwhile, elements matter only where a condition holds, or does not."""
        self._conditions.append((truth, holds))
        try:
            yield
        finally:
            self._conditions.pop()

    def base(self, node: ast.Subscript) -> View | None:
        """The array, where each dimension has one subscript, and one of them depends on data."""
        written = _subscripts(node)
        if not any(self._is_data(each) for each in written):
            return None
        base = self.expressions.view(node.value)
        if base is None or len(written) != base.rank:
            return None
        return base

    def _is_data(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Slice) or self.expressions.shape(node):
            return False
        return any(
            self.expressions.is_data(each)
            for each in ast.walk(node)
            if isinstance(each, ast.Name | ast.Subscript)
        )

    def element(self, node: ast.Subscript, base: View) -> Scalar:
        """The element; raises SourceError, NotAffine."""
        hint = "bounds and conditions may not depend on data"
        self.emitter.require_operations(node, f"'{ast.unparse(node)}' is data", hint)
        indices = [self._index(each) for each in _subscripts(node)]
        operands: list[str] = []
        for each in base.subscripts:
            if each.axis is None:
                operands.append(self._affine(each.start, node))
            elif each.start == Affine() and each.step == 1:
                operands.append(indices[each.axis])
            else:
                raise self.source.error(
                    node,
                    "a subscript that depends on data, of a slice",
                    "write the subscript of the array itself",
                )
        kind = base.array.type
        text = f"memref.load %{base.array.name}[{', '.join(operands)}] : {kind.mlir}"
        return Scalar(self.emitter.operation(text, node), kind.element)

    def _index(self, node: ast.expr) -> str:
        value: Value = self.expressions.value(node)
        if isinstance(value, Index) and value.affine is not None:
            return self._affine(value.affine, node)
        if isinstance(value, Constant) and isinstance(value.value, int):
            return self._affine(ONE.times(value.value), node)
        if not isinstance(value, Scalar) or value.element.is_float:
            raise self.source.error(
                node, "a subscript must be an integer", "write // for the floor of the quotient"
            )
        cast = "index_castui" if value.element.is_unsigned else "index_cast"
        kind = value.element.mlir
        index = self.emitter.operation(f"arith.{cast} {value.name} : {kind} to index", node)
        zero = self.emitter.constant("0", "index") if self._conditions else ""
        for truth, holds in self._conditions:
            sides = f"{index}, {zero}" if holds else f"{zero}, {index}"
            index = self.emitter.operation(f"arith.select {truth}, {sides} : index", node)
        return index

    def _affine(self, value: Affine, node: ast.expr) -> str:
        if not value.terms:
            return self.emitter.constant(str(value.constant), "index")
        names = value.names()
        if value == Affine.of(names[0]):
            return f"%{names[0].text}"
        return self.emitter.operation(f"affine.apply {map_text([value])}", node)


def _subscripts(node: ast.Subscript) -> list[ast.expr]:
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
