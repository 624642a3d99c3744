"""Arrays that a function allocates: `np.empty` and `np.zeros`."""

from __future__ import annotations

import ast

import numpy as np

from ..text.affine import Affine, Index, Name, map_text
from ..text.emitter import Emitter
from .element_types import ArrayType, ElementType, element_type, f64
from .expressions import ArrayValue, Expressions
from .source import PythonSource
from .values import literal
from .variables import Variable


class LocalArrays:
    """Allocates arrays; they live to the end of the function."""

    def __init__(
        self, expressions: Expressions, source: PythonSource, emitter: Emitter[ast.AST]
    ) -> None:
        self.expressions = expressions
        self.source = source
        self.emitter = emitter
        self.allocated: list[ArrayValue] = []

    def allocates(self, node: ast.expr) -> bool:
        """Whether an expression allocates an array."""
        if not isinstance(node, ast.Call):
            return False
        found = self.expressions.captured.resolve(node.func)
        return found is np.empty or found is np.zeros

    def allocate(self, target: ast.expr, node: ast.expr, *, at_top: bool) -> None:
        """Allocates an array and gives it a name; raises SourceError."""
        assert isinstance(node, ast.Call)
        variable = self.expressions.variables.get(target) if isinstance(target, ast.Name) else None
        if variable is None or not variable.is_value or not at_top:
            raise self.source.error(
                node,
                "an array is allocated outside of loops and conditions, under a name of its own",
                "allocate it at the top of the function, and use it again",
            )
        array = ArrayValue(variable.name, *self._shape(node))
        self._emit(array, node)
        self._name(variable, array)
        if self.expressions.captured.resolve(node.func) is np.zeros:
            self._clear(array, node)

    def _shape(self, node: ast.Call) -> tuple[ArrayType, tuple[Index, ...]]:
        keywords = {each.arg: each.value for each in node.keywords}
        types = [*node.args[1:], *(value for arg, value in keywords.items() if arg == "dtype")]
        if len(node.args) == 0 or len(types) > 1 or set(keywords) - {"dtype"}:
            raise self.source.error(
                node, "an array has a shape and a type here", "write np.zeros((n, m), dtype=f64)"
            )
        element: ElementType | None = f64
        if types:
            element = element_type(self.expressions.captured.resolve(types[0]))
        if element is None:
            raise self.source.error(types[0], "this is no type of elements", "write dtype=f64")
        shape = node.args[0]
        written = shape.elts if isinstance(shape, ast.Tuple) else [shape]
        extents = [self.expressions.affine(each, "an extent") for each in written]
        kind = ArrayType(element, tuple("" if e.terms else e.constant for e in extents))
        return kind, tuple(Index((extent,)) for extent in extents)

    def _emit(self, array: ArrayValue, node: ast.Call) -> None:
        sizes = [extent.parts[0] for extent in array.sizes or () if extent.parts[0].terms]
        names = ", ".join(self.expressions.arithmetic.index_name(size, node) for size in sizes)
        self.emitter.line(f"%{array.name} = memref.alloc({names}) : {array.type.mlir}", node)
        self.allocated.append(array)

    def _name(self, variable: Variable, array: ArrayValue) -> None:
        for use in variable.uses:
            del self.expressions.variables[use]
        self.expressions.names[array.name] = array

    def _clear(self, array: ArrayValue, node: ast.Call) -> None:
        """Loops that store zeros."""
        sizes = array.sizes or ()
        loops = [f"{array.name}_{dimension}" for dimension in range(len(sizes))]
        element = array.type.element
        zero = self.emitter.constant(literal(0, element), str(element))
        subscripts = ", ".join(Affine.of(Name(loop, symbol=False)).render() for loop in loops)
        with self.emitter.block() as block:
            self.emitter.line(
                f"affine.store {zero}, %{array.name}[{subscripts}] : {array.type.mlir}", node
            )
        for loop, size in reversed(list(zip(loops, sizes, strict=True))):
            extent = size.parts[0]
            bound = map_text([extent]) if extent.terms else str(extent.constant)
            with self.emitter.block() as outer:
                self.emitter.nest(f"affine.for %{loop} = 0 to {bound}", block, node)
            block = outer
        self.emitter.blocks[-1].lines += block.lines

    def release(self, node: ast.AST) -> None:
        """Frees all arrays."""
        for array in self.allocated:
            self.emitter.line(f"memref.dealloc %{array.name} : {array.type.mlir}", node)
