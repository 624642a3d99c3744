"""Random loop nests with steps, moduli and quotients in bounds and conditions, and tilings of them.

Each statement counts how often it runs in an element of its own, so that all orders are legal and a
lost guard, a lost instance and one that runs twice can be seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from loopwright.passes.polyhedral.schedule_tree import chain, loops
from loopwright.passes.schedules.errors import TransformationError
from loopwright.passes.schedules.schedule import Schedule, Transformation
from loopwright.passes.transformations.interchange import Interchange
from loopwright.passes.transformations.reverse import Reverse
from loopwright.passes.transformations.shift import Shift
from loopwright.passes.transformations.skew import Skew
from loopwright.passes.transformations.split import Split
from loopwright.passes.transformations.strip_mine import StripMine
from loopwright.passes.transformations.tile import Tile
from loopwright.passes.transformations.unroll import Unroll
from loopwright.passes.transformations.wavefront import Wavefront

from .choice import Chooser, chance, choose

LOOP_NAMES = "ijk"
SIZE = "n"

LIMIT = 20
"""Induction variables lie between `-LIMIT` and `LIMIT`, both included."""

TILE_SIZES = (1, 2, 3, 1, 2, 4, 5, 7, 16, 40)


@dataclass
class StridedProgram:
    """A module with one function `@f`, and the rank of the array of each statement."""

    text: str
    ranks: tuple[int, ...]

    def arguments(self, size: int) -> list[Any]:
        """Arguments for `@f`: the size, and counters that are 0."""
        extents = [(2 * LIMIT + 1,) * rank for rank in self.ranks]
        return [size, *(np.zeros(extent, np.int32) for extent in extents)]


def strided_program(chooser: Chooser) -> StridedProgram:
    """A program made of the decisions of `chooser`."""
    return _Generator(chooser).program()


@dataclass
class _Generator:
    chooser: Chooser
    lines: list[str] = field(default_factory=list[str])
    ranks: list[int] = field(default_factory=list[int])
    budget: int = 3

    def program(self) -> StridedProgram:
        for _ in range(choose(self.chooser, (1, 1, 2))):
            self.budget = choose(self.chooser, (1, 2, 3))
            self._loop(())
        formal = [f"%A{number}: {_memref(rank)}" for number, rank in enumerate(self.ranks)]
        head = f"func.func @f({', '.join([f'%{SIZE}: index', *formal])}) {{"
        text = "\n".join([head, "%one = arith.constant 1 : i32", *self.lines, "return", "}", ""])
        return StridedProgram(text, tuple(self.ranks))

    def _loop(self, outer: tuple[str, ...]) -> None:
        name = LOOP_NAMES[len(outer)]
        lower, upper = (
            self._bound(outer, -LIMIT, (0, 1, 2, -1, -3)),
            self._bound(outer, LIMIT + 1, (4, 5, 6, 7, 9, 12, 1)),
        )
        step = choose(self.chooser, (1, 2, 3, 1, 2, 3, 4, 5, 7))
        self.lines.append(f"affine.for %{name} = max {lower} to min {upper} step {step} {{")
        self._block((*outer, name))
        self.lines.append("}")

    def _block(self, outer: tuple[str, ...]) -> None:
        for _ in range(choose(self.chooser, (1, 1, 2))):
            form = self.chooser.integer(0, 9)
            if self.budget <= 0 or len(outer) == len(LOOP_NAMES) or form <= 2:
                self._statement(outer)
            elif form <= 5:
                self._guarded(outer)
            else:
                self._loop(outer)

    def _guarded(self, outer: tuple[str, ...]) -> None:
        constraints = [self._constraint(outer) for _ in range(choose(self.chooser, (1, 1, 2)))]
        dims, operands = _dims(outer)
        self.lines.append(f"affine.if affine_set<{dims} : ({', '.join(constraints)})>{operands} {{")
        self._block(outer)
        if chance(self.chooser, 20):
            self.lines.append("} else {")
            self._block(outer)
        self.lines.append("}")

    def _statement(self, outer: tuple[str, ...]) -> None:
        self.budget -= 1
        number = len(self.ranks)
        self.ranks.append(len(outer))
        element = f"%A{number}[{', '.join(f'%{name} + {LIMIT}' for name in outer)}]"
        kind = _memref(len(outer))
        self.lines += [
            f"%x{number} = affine.load {element} : {kind}",
            f"%y{number} = arith.addi %x{number}, %one : i32",
            f"affine.store %y{number}, {element} : {kind}",
        ]

    def _bound(self, outer: tuple[str, ...], limit: int, constants: tuple[int, ...]) -> str:
        """A bound of a loop, together with the limit of all induction variables."""
        dims, operands = _dims(outer)
        if chance(self.chooser, 50):
            results = [f"{choose(self.chooser, constants)}"]
        else:
            results = [self._rounded(outer) for _ in range(choose(self.chooser, (1, 1, 2)))]
        return f"affine_map<{dims} -> ({', '.join([str(limit), *results])})>{operands}"

    def _constraint(self, outer: tuple[str, ...]) -> str:
        expression, form = self._sum(outer), self.chooser.integer(0, 9)
        if form <= 5:
            modulus = choose(self.chooser, (2, 3, 2, 4, 5, 6))
            sign = choose(self.chooser, ("==", "==", ">="))
            return f"({expression}) mod {modulus} - {self.chooser.integer(0, modulus - 1)} {sign} 0"
        if form <= 7:
            least = self.chooser.integer(-1, 3)
            return f"({expression}) floordiv {choose(self.chooser, (2, 3))} - {least} >= 0"
        return f"{expression} {choose(self.chooser, ('>=', '=='))} 0"

    def _rounded(self, outer: tuple[str, ...]) -> str:
        expression = self._sum(outer)
        rounding = choose(
            self.chooser,
            (
                "{}",
                "({}) floordiv 2",
                "({}) floordiv 3",
                "({}) floordiv 5",
                "({}) ceildiv 2",
                "({}) mod 4",
                "-(({}) floordiv 2)",
                "({}) floordiv 2 * 3 - 1",
            ),
        )
        return rounding.format(expression)

    def _sum(self, outer: tuple[str, ...]) -> str:
        terms = [str(self.chooser.integer(-3, 4))]
        names = [*(f"d{position}" for position in range(len(outer))), "s0"]
        for _ in range(choose(self.chooser, (1, 1, 2))):
            factor = choose(self.chooser, (1, 1, -1, 2, -2, 3))
            terms.append(f"{choose(self.chooser, names)} * {factor}")
        return " + ".join(terms)


def _memref(rank: int) -> str:
    return f"memref<{f'{2 * LIMIT + 1}x' * rank}i32>"


def _dims(outer: tuple[str, ...]) -> tuple[str, str]:
    dims = ", ".join(f"d{position}" for position in range(len(outer)))
    return f"({dims})[s0]", f"({', '.join(f'%{name}' for name in outer)})[%{SIZE}]"


def tiled(chooser: Chooser, schedule: Schedule, count: int) -> Schedule:
    """The schedule after those of `count` random steps that are possible."""
    for _ in range(count):
        step = _step(chooser, schedule)
        try:
            schedule = schedule.apply(step)
        except TransformationError:
            continue
    return schedule


def _step(chooser: Chooser, schedule: Schedule) -> Transformation:
    loop = choose(chooser, list(loops(schedule.tree)))
    members = chain(loop)[: chooser.integer(1, 3)]
    names = tuple(schedule.short_name(member) for member in members)
    sizes = tuple(choose(chooser, TILE_SIZES) for _ in names)
    outer = choose(chooser, ["", *(f"+{each.name}" for each in schedule.outer(loop)), f"+{SIZE}"])
    steps: tuple[Transformation, ...] = (
        Tile(names, sizes=sizes),
        StripMine(names[:1], size=sizes[0]),
        Split(names[:1], at=f"{chooser.integer(-2, 6)}{outer}"),
        Wavefront(names[:2], factors=(choose(chooser, (1, 2, 3)), choose(chooser, (1, 2, -1)))),
        Skew(names, factors=tuple(choose(chooser, (1, 2, -1)) for _ in names[1:])),
        Interchange(tuple(reversed(names))),
        Reverse(names[:1]),
        Shift(names[:1], offset=choose(chooser, (1, -1, 2, 5))),
        Unroll(names[:1], factor=choose(chooser, (2, 3, 4))),
    )
    return choose(chooser, (*steps[:3], *steps))
