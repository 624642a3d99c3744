"""Random affine.parallel loops that reduce to several values, of which each is used afterwards."""

from __future__ import annotations

from .choice import Chooser, chance, choose
from .random_bounds import LOOP_NAMES
from .random_expressions import multiple
from .random_memory import is_float
from .random_values import Scope, ValueGenerator
from .ranges import Affine, Index

FLOAT_KINDS = ("addf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf")
INTEGER_KINDS = ("addi", "muli", "maxs", "mins", "maxu", "minu", "andi", "ori", "xori")


class ParallelReductions:
    """Appends loops to the lines of `code`."""

    def __init__(self, chooser: Chooser, code: ValueGenerator):
        self.chooser = chooser
        self.code = code
        self.memory = code.memory

    def loop(self, scope: Scope, most: int) -> int:
        """A loop of at most `most` dimensions, and stores of its results; how many it has."""
        rank = min(most, choose(self.chooser, (1, 2, 1, 3)))
        indices, header = self._header(scope, rank)
        inner = scope.inner((*scope.indices, *indices), deeper=rank)
        count = choose(self.chooser, (1, 2, 1, 3))
        kinds = [choose(self.chooser, self.memory.element_types) for _ in range(count)]
        reductions = [
            choose(self.chooser, FLOAT_KINDS if is_float(kind) else INTEGER_KINDS) for kind in kinds
        ]
        names = [self.memory.fresh("r") for _ in kinds]
        quoted = ", ".join(f'"{reduction}"' for reduction in reductions)
        types = ", ".join(kinds)
        lines = self.code.lines
        lines.append(f"{', '.join(names)} = {header} reduce ({quoted}) -> ({types}) {{")
        values = [
            self._operand(inner, kind, reduction)
            for kind, reduction in zip(kinds, reductions, strict=True)
        ]
        lines.append(f"affine.yield {', '.join(values)} : {types}")
        lines.append("}")
        for name, kind in zip(names, kinds, strict=True):
            scope.add(kind, name)
        for name, kind in zip(names, kinds, strict=True):
            self.code.store(scope, kind, name)
        if chance(self.chooser, 40):
            kind = choose(self.chooser, kinds)
            self.code.store(scope, kind, self.code.value(scope, kind))
        return rank

    def _operand(self, scope: Scope, kind: str, reduction: str) -> str:
        """What an iteration contributes; factors are small."""
        value = self.code.value(scope, kind)
        if reduction != "mulf":
            return value
        return self.code.clamp(scope, kind, value, choose(self.chooser, (1, 2)))

    def _header(self, scope: Scope, rank: int) -> tuple[list[Index], str]:
        """The induction variables, and `affine.parallel (%i, %j) = ... to ... step ...`."""
        indices: list[Index] = []
        lows: list[str] = []
        highs: list[str] = []
        steps: list[int] = []
        for dimension in range(rank):
            low = Affine.constant(choose(self.chooser, (0, 0, 1, -1, 2)))
            high = self._upper(scope)
            name = f"%{LOOP_NAMES[scope.depth + dimension]}"
            indices.append(Index(name, low.low, high[0].high.shifted(-1)))
            lows.append(low.text())
            texts = ", ".join(each.text() for each in high)
            highs.append(f"min({texts})" if len(high) > 1 else texts)
            steps.append(choose(self.chooser, self.memory.style.loops.steps))
        names = ", ".join(index.name for index in indices)
        header = f"affine.parallel ({names}) = ({', '.join(lows)}) to ({', '.join(highs)})"
        if any(step != 1 for step in steps):
            header += f" step ({', '.join(map(str, steps))})"
        return indices, header

    def _upper(self, scope: Scope) -> list[Affine]:
        """An extent, a number, a loop around, or the smaller of two."""
        extent = Affine((), self.memory.extent()).shifted(choose(self.chooser, (0, 0, 1, -1)))
        form = self.chooser.integer(0, 5)
        if form <= 2:
            return [extent]
        other = Affine.constant(self.chooser.integer(0, 9))
        if scope.indices and form >= 4:
            other = multiple(choose(self.chooser, scope.indices)).shifted(1)
        return [extent, other] if form == 5 else [other]
