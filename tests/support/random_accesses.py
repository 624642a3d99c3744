"""Random programs for dependence analysis: strides, quotients, and many accesses to few arrays.

Loops have steps, triangular bounds and guards; bounds, guards and subscripts have `mod`, `floordiv`
and coefficients other than one. Most reads are of the array that is written. Values do not matter.
All subscripts are inside of arrays of `EXTENT` elements per dimension while the sizes are at most
`LARGEST_SIZE`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np
from numpy.typing import NDArray

LARGEST_SIZE = 5
EXTENT = 128

_SIZES = ("%n", "%m")
_RANKS = {"%A": 2, "%B": 1}

_LOWER = ("d0", "d0 + 1", "d0 - 2", "d0 floordiv 2", "d0 mod 3")
_UPPER = ("d0 + 1", "d0 + 1", "d0", "d0 + 3", "s0 - d0", "d0 floordiv 2 + 2", "s0, d0 + 2")
_GUARDS = (
    "d0 - s0 + 2 >= 0",
    "s0 - d0 - 3 >= 0",
    "d0 - d1 >= 0",
    "d0 mod 2 == 0",
    "(d0 + d1) mod 2 == 0",
    "d0 mod 3 - 1 >= 0",
    "d0 - d1 floordiv 2 >= 0",
    "(d0 + s0) floordiv 2 - d1 == 0",
    "d0 - d1 - 1 >= 0, d1 mod 2 == 0",
)
_SUBSCRIPTS = (
    "{0} * 2 + {2}",
    "{0} + {1} + {2}",
    "{0} * -1 + {2}",
    "{0} floordiv 2 + {2}",
    "({0} + {1}) floordiv 2 + {2}",
    "{0} mod 2 + {2}",
    "{0} mod 3 + {2}",
    "{0} * 3 - {1} + {2}",
)


@dataclass
class AccessPrograms:
    """Makes programs out of the decisions of `source`."""

    source: random.Random
    lines: list[str] = field(default_factory=list[str])
    _numbers: Iterator[int] = field(default_factory=count)

    def program(self) -> str:
        """The text of a module with one function `@f(%n, %m, %A, %B, %x)`."""
        self.lines = []
        for _ in range(self.source.choice((1, 1, 1, 1, 2, 3))):
            self._loop((), self.source.choice((1, 2, 2, 3, 3)))
        arrays = ", ".join(f"{name}: {_type(name)}" for name in _RANKS)
        head = f"func.func @f(%n: index, %m: index, {arrays}, %x: i32) {{"
        return "\n".join((head, *self.lines, "return", "}", ""))

    def _loop(self, outer: tuple[str, ...], depth: int) -> None:
        name = f"%i{next(self._numbers)}"
        step = self.source.choice((1, 1, 1, 2, 2, 3))
        suffix = f" step {step}" if step > 1 else ""
        lower, upper = self._lower(outer), self._upper(outer)
        self.lines.append(f"affine.for {name} = {lower} to {upper}{suffix} {{")
        inner = (*outer, name)
        if depth == 1 or self._chance(15):
            self._statement(inner)
        if depth > 1:
            self._loop(inner, depth - 1)
        if self._chance(40):
            self._guarded(inner)
        self.lines.append("}")

    def _lower(self, outer: Sequence[str]) -> str:
        if not outer or self._chance(70):
            return str(self.source.choice((0, 0, 1, -2, -3)))
        return f"affine_map<(d0) -> ({self.source.choice(_LOWER)})>({self.source.choice(outer)})"

    def _upper(self, outer: Sequence[str]) -> str:
        size = self.source.choice(_SIZES)
        if not outer or self._chance(40):
            small = f"min affine_map<()[s0] -> (s0, 4)>()[{size}]"
            return self.source.choice((size, size, size, "4", small))
        bound = self.source.choice(_UPPER)
        return f"min affine_map<(d0)[s0] -> ({bound}, 8)>({self._near(outer)})[{size}]"

    def _guarded(self, outer: Sequence[str]) -> None:
        """A statement under an affine.if, perhaps with another one in its other branch."""
        operands = f"({self._near(outer)}, {self._near(outer)})[{self.source.choice(_SIZES)}]"
        condition = self.source.choice(_GUARDS)
        self.lines.append(f"affine.if affine_set<(d0, d1)[s0] : ({condition})>{operands} {{")
        self._statement(outer)
        if self._chance(30):
            self.lines.append("} else {")
            self._statement(outer)
        self.lines.append("}")

    def _statement(self, outer: Sequence[str]) -> None:
        """Up to four loads, most of them from the array that is stored to, and a store."""
        target = self.source.choice(("%A", "%A", "%A", "%B"))
        total = "%x"
        for number in range(self.source.choice((0, 1, 1, 2, 3, 4))):
            array = target if self._chance(60) else self.source.choice(tuple(_RANKS))
            value = f"%v{next(self._numbers)}"
            self.lines.append(f"{value} = affine.load {self._element(array, outer)}")
            if number:
                value, term = f"%v{next(self._numbers)}", value
                self.lines.append(f"{value} = arith.addi {total}, {term} : i32")
            total = value
        self.lines.append(f"affine.store {total}, {self._element(target, outer)}")

    def _element(self, array: str, outer: Sequence[str]) -> str:
        subscripts = ", ".join(self._subscript(outer) for _ in range(_RANKS[array]))
        return f"{array}[{subscripts}] : {_type(array)}"

    def _subscript(self, outer: Sequence[str]) -> str:
        shift = EXTENT // 2 + self.source.choice((0, 0, 0, 0, 1, -1, 2))
        form = "{0} + {2}" if self._chance(75) else self.source.choice(_SUBSCRIPTS)
        return form.format(self._near(outer), self._near(outer), shift)

    def _near(self, outer: Sequence[str]) -> str:
        """One of the loops around, an inner one rather than an outer one."""
        return self.source.choice((*outer, *outer[-2:]))

    def _chance(self, percent: int) -> bool:
        return self.source.randrange(100) < percent


def _type(array: str) -> str:
    return f"memref<{'?x' * _RANKS[array]}i32>"


def access_program(seed: int) -> str:
    """The program with number `seed`."""
    return AccessPrograms(random.Random(seed)).program()


def arguments(sizes: Mapping[str, int]) -> list[int | NDArray[np.int32]]:
    """Arguments of `@f` for sizes `n` and `m`."""
    arrays = [np.zeros((EXTENT,) * rank, np.int32) for rank in _RANKS.values()]
    return [sizes["n"], sizes["m"], *arrays, 1]
