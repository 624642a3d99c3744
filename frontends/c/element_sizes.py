"""Sizes that lie in arrays: `grid[0]` as a bound, where the region does not write to the array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from .c_types import ArrayType, IntegerType
from .tree import (
    Assignment,
    Expression,
    Literal,
    Name,
    Statement,
    Subscript,
    Symbol,
    all_expressions,
    bare,
)

Key: TypeAlias = "tuple[Symbol, tuple[int, ...]]"


class NewSize(Exception):
    """An element of an array is a size: the region is printed again, with an argument for it."""

    def __init__(self, key: Key, symbol: Symbol) -> None:
        super().__init__(symbol.name)
        self.key = key
        self.symbol = symbol


@dataclass
class ElementSizes:
    """The elements that are sizes, as variables of their own; `written` arrays have none."""

    written: set[Symbol]
    found: dict[Key, Symbol] = field(default_factory=dict[Key, Symbol])

    @classmethod
    def of(cls, statements: Sequence[Statement]) -> ElementSizes:
        """Those of a region, of which none is known yet."""
        written: set[Symbol] = set()
        for each in all_expressions(list(statements)):
            if isinstance(each, Assignment) and isinstance(each.target, Subscript):
                base: Expression = each.target
                while isinstance(base, Subscript):
                    base = base.base
                if isinstance(base, Name):
                    written.add(base.symbol)
        return cls(written)

    def symbol(self, node: Subscript) -> Symbol | None:
        """The variable that stands for an element; None where it is no size. Raises NewSize."""
        subscripts: list[int] = []
        base: Expression = node
        while isinstance(base, Subscript):
            index = bare(base.index)
            if not isinstance(index, Literal) or not isinstance(index.value, int):
                return None
            subscripts.insert(0, index.value)
            base = base.base
        kind = node.type
        if not isinstance(base, Name) or not isinstance(kind, IntegerType) or kind.width < 32:
            return None
        array = base.symbol
        if array in self.written or array.is_volatile:
            return None
        key = array, tuple(subscripts)
        if key not in self.found:
            name = "_".join([array.name, *map(str, subscripts)])
            spelling = array.spelling + "".join(f"[{each}]" for each in subscripts)
            is_array = isinstance(array.type, ArrayType) and not array.is_parameter
            size = Symbol(
                name,
                kind,
                array.place,
                array.offset,
                addresses=1,
                spelling=spelling,
                through=array.through if is_array else (*array.through, array),
            )
            raise NewSize(key, size)
        return self.found[key]
