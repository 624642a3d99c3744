"""Random programs for dependence analysis: strides, quotients, and many accesses to few arrays.

Bounds, guards and subscripts have `mod`, `floordiv` and coefficients other than one, and most reads
are of the array that is written. Values do not matter. All subscripts are inside of arrays of
`EXTENT` elements per dimension while the sizes are at most `LARGEST_SIZE`.
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
_RANKS = {"%A": 2, "%B": 1, "%C": 2}


@dataclass
class AccessPrograms:
    """Makes programs out of the decisions of `source`."""

    source: random.Random
    lines: list[str] = field(default_factory=list[str])
    _numbers: Iterator[int] = field(default_factory=count)

    def program(self) -> str:
        """The text of a module with one function `@f(%n, %m, %A, %B, %C)`."""
        self.lines = []
        for _ in range(self.source.choice((1, 1, 1, 2, 2, 3))):
            self._loop((), 1 + self.source.randrange(3))
        arrays = ", ".join(f"{name}: {_type(name)}" for name in _RANKS)
        head = f"func.func @f(%n: index, %m: index, {arrays}) {{"
        return "\n".join((head, *self.lines, "return", "}", ""))

    def _loop(self, outer: tuple[str, ...], depth: int) -> None:
        name = f"%i{next(self._numbers)}"
        step = self.source.choice((1, 1, 1, 2, 2, 3))
        suffix = f" step {step}" if step > 1 else ""
        lower, upper = self._lower(outer), self._upper(outer)
        self.lines.append(f"affine.for {name} = {lower} to {upper}{suffix} {{")
        inner = (*outer, name)
        if depth > 1:
            if self._chance(30):
                self._statement(inner)
            self._loop(inner, depth - 1)
            if self._chance(25):
                self._statement(inner)
        else:
            for _ in range(self.source.choice((1, 1, 2))):
                self._guarded(inner)
        self.lines.append("}")

    def _lower(self, outer: Sequence[str]) -> str:
        if not outer or self._chance(50):
            return str(self.source.choice((0, 0, 1, -2, -3)))
        form = self.source.choice(("d0", "d0 + 1", "d0 - 2", "d0 floordiv 2", "d0 mod 3"))
        return f"affine_map<(d0) -> ({form})>({self.source.choice(outer)})"

    def _upper(self, outer: Sequence[str]) -> str:
        size = self.source.choice(_SIZES)
        form = self.source.randrange(8)
        if form < 3:
            return size
        if form == 3:
            return str(self.source.choice((2, 4, 5)))
        if form == 4:
            bound = self.source.choice(("s0 + 2", "s0 floordiv 2", "s0 * 2 - 1", "4, s0 + 1"))
            return f"min affine_map<()[s0] -> ({bound})>()[{size}]"
        if not outer:
            return size
        bound = self.source.choice(
            ("d0 + 1", "d0 + 4", "s0 - d0", "d0 floordiv 2 + 2", "s0, d0 + 2", "d0 mod 2 + s0")
        )
        return f"min affine_map<(d0)[s0] -> ({bound}, 8)>({self.source.choice(outer)})[{size}]"

    def _guarded(self, outer: Sequence[str]) -> None:
        """A statement under an affine.if, or a statement in each branch of one, or just one."""
        if not self._chance(30):
            self._statement(outer)
            return
        first, second = self.source.choice(outer), self.source.choice(outer)
        condition = self.source.choice(
            (
                "d0 mod 2 == 0",
                "(d0 + d1) mod 2 == 0",
                "d0 mod 3 - 1 >= 0",
                "s0 - d0 - 3 >= 0",
                "d0 - d1 floordiv 2 >= 0",
                "(d0 + s0) floordiv 2 - d1 == 0",
                "d0 - d1 >= 0, d1 mod 2 == 0",
            )
        )
        size = self.source.choice(_SIZES)
        self.lines.append(
            f"affine.if affine_set<(d0, d1)[s0] : ({condition})>({first}, {second})[{size}] {{"
        )
        self._statement(outer)
        if self._chance(50):
            self.lines.append("} else {")
            self._statement(outer)
        self.lines.append("}")

    def _statement(self, outer: Sequence[str]) -> None:
        """Up to five loads, most of them from the array that is stored to, and a store."""
        target = self.source.choice(("%A", "%A", "%B", "%C"))
        values: list[str] = []
        for _ in range(self.source.choice((0, 1, 2, 3, 4, 5))):
            array = target if self._chance(75) else self.source.choice(tuple(_RANKS))
            values.append(f"%v{next(self._numbers)}")
            self.lines.append(f"{values[-1]} = affine.load {self._element(array, outer)}")
        total = f"%v{next(self._numbers)}"
        self.lines.append(f"{total} = arith.constant 1 : i32")
        for value in values:
            total, before = f"%v{next(self._numbers)}", total
            self.lines.append(f"{total} = arith.addi {before}, {value} : i32")
        self.lines.append(f"affine.store {total}, {self._element(target, outer)}")

    def _element(self, array: str, outer: Sequence[str]) -> str:
        subscripts = ", ".join(self._subscript(outer) for _ in range(_RANKS[array]))
        return f"{array}[{subscripts}] : {_type(array)}"

    def _subscript(self, outer: Sequence[str]) -> str:
        first, second = self.source.choice(outer), self.source.choice(outer)
        middle = EXTENT // 2
        shift = middle + self.source.choice((0, 0, 0, 1, -1, 2))
        form = self.source.randrange(12)
        if form < 5:
            return f"{first} + {shift}"
        return (
            f"{first} * 2 + {shift}",
            f"{first} + {second} + {shift}",
            f"{first} * -1 + {shift}",
            f"{first} floordiv 2 + {shift}",
            f"({first} + {second}) floordiv 2 + {shift}",
            f"{first} mod {self.source.choice((2, 3, 4))} + {shift}",
            f"{first} * 3 - {second} + {shift}",
        )[form - 5]

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
    return [sizes["n"], sizes["m"], *arrays]
