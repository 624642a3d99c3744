"""Pointers that a region declares: other names of rows, `double *row = A[i]`."""

from __future__ import annotations

from ...dialects.errors import SourceError
from .c_types import LONG, ArrayType, PointerType
from .tree import Binary, Declare, Expression, Literal, Name, Subscript, Symbol, Unary, walk
from .variables import Variables


class Aliases:
    """What each declared pointer points at."""

    def __init__(self, variables: Variables) -> None:
        self.variables = variables
        self._elements: dict[Symbol, Subscript] = {}

    def declare(self, node: Declare) -> None:
        """Remembers a pointer; raises SourceError where its element may change."""
        symbol = node.symbol
        if node.value is None or symbol in self.variables.assigned:
            place = self.variables.assigned.get(symbol, node).place
            raise SourceError(
                f"the pointer '{symbol.name}' is assigned by the region",
                place,
                "declare it where its value is known, or write the array itself",
            )
        element = _element(node.value)
        if element is None:
            raise SourceError(
                f"the pointer '{symbol.name}' points at no element of an array",
                node.value.place,
                "write the array itself",
            )
        for each in walk(element):
            variable = self.variables.of.get(each) if isinstance(each, Name) else None
            if variable is not None and not variable.is_value:
                raise SourceError(
                    f"the pointer '{symbol.name}' depends on '{variable.symbol.name}', which is "
                    "assigned more than once",
                    each.place,
                    f"write '{variable.symbol.name}' in terms of loop variables",
                )
        self._elements[symbol] = element

    def resolved(self, node: Subscript) -> Subscript:
        """An element, with the array itself in place of a pointer to it."""
        base = node.base
        if isinstance(base, Subscript):
            return Subscript(node.place, node.type, self.resolved(base), node.index)
        first = self._elements.get(base.symbol) if isinstance(base, Name) else None
        if first is None:
            return node
        index = Binary(node.place, LONG, "+", first.index, node.index)
        return self.resolved(Subscript(node.place, node.type, first.base, index))


def _element(pointer: Expression) -> Subscript | None:
    """The element that a pointer points at; None where this is not known."""
    zero = Literal(pointer.place, LONG, 0)
    if isinstance(pointer, Unary) and pointer.operator == "&":
        return pointer.operand if isinstance(pointer.operand, Subscript) else None
    if isinstance(pointer, Name | Subscript):
        kind = pointer.type
        if isinstance(kind, ArrayType):
            return Subscript(pointer.place, kind.element, pointer, zero)
        if isinstance(kind, PointerType):
            return Subscript(pointer.place, kind.target, pointer, zero)
        return None
    if isinstance(pointer, Binary) and pointer.operator in ("+", "-"):
        inner = _element(pointer.left)
        if inner is None or isinstance(pointer.right.type, PointerType | ArrayType):
            return None
        index = Binary(pointer.place, LONG, pointer.operator, inner.index, pointer.right)
        return Subscript(pointer.place, inner.type, inner.base, index)
    return None
