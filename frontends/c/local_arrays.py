"""Arrays that a region declares."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects.errors import SourceError
from ..text.affine import Affine, map_text
from .c_types import ArrayType, Elements, elements_of
from .expressions import Array, Expressions
from .names import Names
from .tree import Declare, Piece, Symbol


@dataclass(frozen=True)
class _Allocated:
    name: str
    elements: Elements


class LocalArrays:
    """Allocates arrays: of fixed size where they are declared, others for the whole region."""

    def __init__(self, expressions: Expressions, names: Names) -> None:
        self.expressions = expressions
        self.names = names
        self._allocated: list[_Allocated] = []

    def allocates(self, symbol: Symbol) -> bool:
        """Whether a variable is an array."""
        return isinstance(symbol.type, ArrayType)

    def allocate(self, node: Declare, *, at_top: bool) -> None:
        """Allocates an array; raises SourceError."""
        symbol = node.symbol
        elements = elements_of(symbol.type, parameter=False)
        if elements is None or symbol.is_volatile:
            message = f"elements of '{symbol.name}' must be float, double or integers"
            raise SourceError(message, node.place)
        if node.value is not None:
            raise SourceError(
                f"the initial values of '{symbol.name}' are not supported",
                node.value.place,
                "assign its elements in a loop",
            )
        name = self.names.take(symbol.name)
        emitter = self.expressions.emitter
        if None not in elements.extents:
            emitter.line(f"%{name} = memref.alloca() : {elements.mlir}", node)
        else:
            if not at_top or len(symbol.extents) != elements.rank:
                raise SourceError(
                    f"the array '{symbol.name}' has a size that only the run knows",
                    node.place,
                    "declare it outside of loops and conditions, or give it a fixed size",
                )
            sizes = [
                self._size(self.expressions.affine(written, "an extent"), node)
                for written, extent in zip(symbol.extents, elements.extents, strict=True)
                if extent is None
            ]
            emitter.line(f"%{name} = memref.alloc({', '.join(sizes)}) : {elements.mlir}", node)
            self._allocated.append(_Allocated(name, elements))
        self.expressions.arrays[symbol] = Array(name, elements)

    def _size(self, extent: Affine, node: Piece) -> str:
        names = extent.names()
        if len(names) == 1 and extent == Affine.of(names[0]):
            return f"%{names[0].text}"
        return self.expressions.emitter.operation(f"affine.apply {map_text([extent])}", node)

    def release(self, node: Piece) -> None:
        """Frees the arrays that live for the whole region."""
        for each in self._allocated:
            text = f"memref.dealloc %{each.name} : {each.elements.mlir}"
            self.expressions.emitter.line(text, node)
