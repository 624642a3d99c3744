"""Identifiers of loops, parameters, arrays and statements, valid in isl."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass

from xdsl.dialects import func

from .memrefs import as_memref, memref_shape

# Words that have a meaning in isl's text format, in any case.
_RESERVED = frozenset(
    (
        "and",
        "ceil",
        "ceild",
        "exists",
        "false",
        "floor",
        "floord",
        "implies",
        "infinity",
        "infty",
        "max",
        "min",
        "mod",
        "nan",
        "not",
        "or",
        "rat",
        "true",
    )
)


def identifier(hint: str | None, default: str, taken: Container[str] = ()) -> str:
    """A valid identifier made of `hint`, else `default`; digits are appended while it is taken."""
    base = re.sub(r"\W", "_", hint or default, flags=re.ASCII)
    if not base[:1].isalpha():
        base = f"{default.rstrip('0123456789')}{base}"
    name, number = base, 2
    separator = "_" if base[-1].isdigit() else ""
    while name in taken or name.lower() in _RESERVED:
        name, number = f"{base}{separator}{number}", number + 1
    return name


def dimension_names(count: int) -> list[str]:
    """Names of dimensions in isl's text that no argument has: identifiers have no prime."""
    return [f"i{position}'" for position in range(count)]


@dataclass(frozen=True)
class ArgumentNames:
    """Names of a function's arguments, and of the dynamic dimensions of its memref arguments.

    `dimensions` has the argument's number and the position in its shape as key.
    """

    arguments: tuple[str, ...]
    dimensions: dict[tuple[int, int], str]

    @staticmethod
    def of(function: func.FuncOp) -> ArgumentNames:
        """`%N: index, %A: memref<?x8xf64>` -> `N`, `A`, `A_dim0`."""
        taken: set[str] = set()

        def take(hint: str | None, default: str) -> str:
            name = identifier(hint, default, taken)
            taken.add(name)
            return name

        arguments = function.body.block.args
        names = tuple(take(a.name_hint, f"arg{n}") for n, a in enumerate(arguments))
        dimensions = {
            (number, position): take(f"{names[number]}_dim{position}", "dim")
            for number, argument in enumerate(arguments)
            if as_memref(argument) is not None
            for position, size in enumerate(memref_shape(argument))
            if size < 0
        }
        return ArgumentNames(names, dimensions)

    @property
    def taken(self) -> frozenset[str]:
        """All of them."""
        return frozenset((*self.arguments, *self.dimensions.values()))
