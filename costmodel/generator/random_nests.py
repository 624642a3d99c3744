"""Random loop nests: depth, extents, rectangular or triangular, perfect or imperfect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from . import distribution
from .distribution import Mix, draw
from .program_parts import ArraySpec, Dimension, Loop
from .random_accesses import Nest
from .random_statements import Statements

LOOP_NAMES = ("i", "j", "k", "l", "x", "y", "z")

ACCUMULATING = ("reduction", "contraction")
"""Patterns whose result can be initialised in an outer loop."""


@dataclass
class NestBuilder:
    """Appends nests to the code of `statements`.

    All nests of a program are about as deep as the first.
    """

    random: Random
    statements: Statements
    symbols: Sequence[Dimension]
    mix: Mix
    loops_around: int = 0
    _depth: int = 0
    _pattern: str = ""
    _halo: int = 0
    _branched: bool = False

    def write(self) -> None:
        """One nest."""
        pattern = draw(self.random, self.mix.patterns)
        if not self._depth:
            self._depth = draw(self.random, self.mix.depths)
        depth = self._depth + self.random.choice(distribution.OTHER_DEPTH) - self.loops_around
        depth = max(1, min(depth, distribution.DEEPEST - self.loops_around))
        depth = max(depth, distribution.LEAST_DEPTHS.get(pattern, 1))
        dimensions = self._dimensions(pattern, depth)
        self._halo = draw(self.random, distribution.STENCIL_RADII) if pattern == "stencil" else 0
        self._pattern = pattern
        self._branched = False
        self._fill((), dimensions, Nest(), None)

    def _dimensions(self, pattern: str, depth: int) -> list[Dimension]:
        """What the loops run over, outermost first."""
        windows = 0
        if pattern != "stencil" and depth >= 3 and self.random.random() < distribution.WINDOW:
            windows = self.random.randint(1, min(2, depth - 2))
        symbols = [self.random.choice(self.symbols) for _ in range(depth - windows)]
        extents = [draw(self.random, distribution.WINDOW_EXTENTS) for _ in range(windows)]
        inner = [Dimension(f"window{extent}", extent) for extent in extents]
        if windows and self.random.random() < 0.3:
            position = self.random.randint(1, len(symbols))
            return [*symbols[:position], *inner, *symbols[position:]]
        return [*symbols, *inner]

    def _fill(
        self,
        loops: tuple[Loop, ...],
        remaining: Sequence[Dimension],
        nest: Nest,
        accumulator: ArraySpec | None,
    ) -> None:
        """The body of the last of `loops`, with loops over the `remaining` dimensions inside."""
        if not remaining:
            self._innermost(loops, nest, accumulator)
            return
        between = len(loops) > 0 and self.random.random() < distribution.STATEMENT_BETWEEN
        after = between and self.random.random() < 0.4
        if between and not after:
            # Reductions over the loops inside accumulate into what is written here.
            if self._pattern in ACCUMULATING and accumulator is None:
                accumulator = self.statements.initialise(loops, nest)
            else:
                self.statements.write("assignment", loops, nest)
        branches = 1
        if loops and not self._branched and self.random.random() < distribution.BRANCH:
            self._branched = True
            branches = 2
        for _ in range(branches):
            loop = self._open(loops, remaining[0])
            self._fill((*loops, loop), remaining[1:], nest, accumulator)
            self.statements.code.lines.append("}")
        if after:
            self.statements.write("assignment", loops, nest)

    def _innermost(
        self, loops: tuple[Loop, ...], nest: Nest, accumulator: ArraySpec | None
    ) -> None:
        for number in range(draw(self.random, distribution.STATEMENTS)):
            pattern = self._pattern
            if number and self.random.random() < distribution.OTHER_PATTERN:
                pattern = draw(self.random, self.mix.patterns)
            if len(loops) < distribution.LEAST_DEPTHS.get(pattern, 1):
                pattern = "assignment"
            if pattern in ACCUMULATING and accumulator is not None and number == 0:
                kept = _loops_over(accumulator.dimensions, loops)
                self.statements.accumulate(pattern, loops, kept, nest, accumulator)
            else:
                self.statements.write(pattern, loops, nest)

    def _open(self, loops: tuple[Loop, ...], dimension: Dimension) -> Loop:
        """Starts a loop, triangular now and then where an outer loop runs over the same size."""
        name = f"%{LOOP_NAMES[len(loops)]}"
        lines = self.statements.code.lines
        if dimension.constant is not None:
            lines.append(f"affine.for {name} = 0 to {dimension.constant} {{")
            return Loop(name, dimension)
        partners = [loop for loop in loops if loop.dimension == dimension]
        if partners and self.random.random() < self.mix.triangular:
            form = draw(self.random, distribution.TRIANGULAR_FORMS)
            return self._triangular(form, name, dimension, self.random.choice(partners))
        lines.append(f"affine.for {name} = {self._halo} to {self._end(dimension)} {{")
        return Loop(name, dimension, self._halo)

    def _triangular(self, form: str, name: str, dimension: Dimension, partner: Loop) -> Loop:
        outer, halo = partner.name, self._halo
        width = self.random.choice((2, 4, 8, 16, 32))
        end = self._end(dimension)
        capped = (
            f"min affine_map<(d0)[s0] -> (d0 + {width}, s0 - {halo})>({outer})[%{dimension.name}]"
        )
        lower, upper, share, trips = {
            "below": (f"{halo}", outer, 0.5, None),
            "below-inclusive": (f"{halo}", f"affine_map<(d0) -> (d0 + 1)>({outer})", 0.5, None),
            "above": (outer, end, 0.5, None),
            "above-exclusive": (f"affine_map<(d0) -> (d0 + 1)>({outer})", end, 0.5, None),
            "trapezoid": (f"{halo}", capped, 0.6, None),
            "band": (outer, capped, 1.0, width),
        }[form]
        self.statements.code.lines.append(f"affine.for {name} = {lower} to {upper} {{")
        return Loop(name, dimension, halo, share, trips)

    def _end(self, dimension: Dimension) -> str:
        if not self._halo:
            return f"%{dimension.name}"
        return f"affine_map<()[s0] -> (s0 - {self._halo})>()[%{dimension.name}]"


def _loops_over(dimensions: Sequence[Dimension], loops: Sequence[Loop]) -> list[Loop]:
    """The outermost loops over these dimensions, each once."""
    wanted = list(dimensions)
    found: list[Loop] = []
    for loop in loops:
        if loop.dimension in wanted:
            wanted.remove(loop.dimension)
            found.append(loop)
    return found
