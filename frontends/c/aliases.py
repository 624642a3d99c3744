"""Pointers that a region declares: other names of rows, `double *row = A[i]`."""

from __future__ import annotations

from collections.abc import Callable

from ...dialects.errors import SourceError
from ...dialects.source_location import Location
from .c_types import LONG, ArrayType, CType, IntegerType, NumberType, PointerType
from .functions import REMEDIES
from .read_members import MemberArray
from .tree import (
    Binary,
    Call,
    Declare,
    Expression,
    Literal,
    Name,
    Subscript,
    Symbol,
    Unary,
    bare,
    walk,
    widened,
)
from .variables import Variables

_ITSELF = "write the array itself"


class Aliases:
    """What each declared pointer points at."""

    def __init__(self, variables: Variables) -> None:
        self.variables = variables
        self._elements: dict[Symbol, Subscript] = {}

    def declare(self, node: Declare, bind: Callable[[Expression], Name]) -> None:
        """Remembers a pointer; raises SourceError where its element may change.

        `bind` names the value that a subscript has now: memory and variables may change.
        """
        symbol = node.symbol
        if node.value is None or symbol in self.variables.assigned:
            place = self.variables.assigned.get(symbol, node).place
            raise SourceError(
                f"the pointer '{symbol.name}' is assigned by the region",
                place,
                f"declare it where its value is known, or {_ITSELF}",
            )
        element = element_of(node.value)
        if element is None:
            value = bare(node.value)
            raise SourceError(
                f"the pointer '{symbol.name}' points at no element of an array",
                node.value.place,
                REMEDIES.get(value.function, _ITSELF) if isinstance(value, Call) else _ITSELF,
            )
        self._elements[symbol] = self._fixed(element, bind)

    def _fixed(self, element: Subscript, bind: Callable[[Expression], Name]) -> Subscript:
        base, index = element.base, element.index
        if isinstance(base, Subscript):
            base = self._fixed(base, bind)
        if any(map(self._may_change, walk(index))):
            index = bind(index)
        return Subscript(element.place, element.type, base, index)

    def _may_change(self, node: Expression) -> bool:
        if isinstance(node, Name) and node.symbol in self.variables.assigned:
            variable = self.variables.of.get(node)
            return variable is None or not variable.is_value
        return isinstance(node, Subscript)

    def resolved(self, node: Subscript) -> Subscript:
        """An element, with the array itself in place of a pointer to it."""
        base = node.base
        if isinstance(base, Subscript):
            return Subscript(node.place, node.type, self.resolved(base), node.index)
        first = self._elements.get(base.symbol) if isinstance(base, Name) else None
        if first is None:
            return node
        index = Binary(node.place, LONG, "+", widened(first.index), widened(node.index))
        return self.resolved(Subscript(node.place, node.type, first.base, index))


def element_of(pointer: Expression) -> Subscript | None:
    """The element that a pointer points at; None where this is not known."""
    zero = Literal(pointer.place, LONG, 0)
    if isinstance(pointer, Unary) and pointer.operator == "&":
        return pointer.operand if isinstance(pointer.operand, Subscript) else None
    if isinstance(pointer, Name | Subscript):
        kind = pointer.type
        if isinstance(pointer, MemberArray) and isinstance(kind, ArrayType):
            is_number = isinstance(kind.element, NumberType)
            return pointer.element(pointer.place, kind.element, zero) if is_number else None
        if isinstance(kind, ArrayType):
            return Subscript(pointer.place, kind.element, pointer, zero)
        if isinstance(kind, PointerType):
            return Subscript(pointer.place, kind.target, pointer, zero)
        return None
    if isinstance(pointer, Binary) and pointer.operator in ("+", "-"):
        inner = element_of(pointer.left)
        if inner is None or isinstance(pointer.right.type, PointerType | ArrayType):
            return None
        one, other = widened(inner.index), widened(pointer.right)
        index = Binary(pointer.place, LONG, pointer.operator, one, other)
        return Subscript(pointer.place, inner.type, inner.base, index)
    return None


def element_behind(
    place: Location, kind: CType, pointer: Expression, index: Expression
) -> Subscript:
    """An element behind the one that a pointer points at: `(a + i)[j]` -> `a[i + j]`."""
    while isinstance(pointer, Binary) and pointer.operator in ("+", "-"):
        left, right = pointer.left, pointer.right
        if isinstance(left.type, IntegerType):
            left, right = right, left
        if pointer.operator == "+" and isinstance(index, Literal) and index.value == 0:
            index = right
        else:
            far, near = widened(right), widened(index)
            if pointer.operator == "-":
                far = Unary(place, LONG, "-", far)
            index = Binary(place, LONG, "+", far, near)
        pointer = left
    if isinstance(pointer, MemberArray) and isinstance(index.type, IntegerType):
        return pointer.element(place, kind, index)
    return Subscript(place, kind, pointer, index)
