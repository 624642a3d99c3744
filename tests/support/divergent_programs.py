"""Random programs whose lanes run different iterations of the loops inside, or none.

    for i in [0, n):
      for k in [max(0, a * i + b, ...), min(m, c * i + d, ...)):
        if CONDITION, or for l in [..., ...):          perhaps, of i and k
          B[i - before] += A[k, i]
        C[i] += A[k, i]

`B` begins with the first element that is accessed: lanes that should not come to it are seen. The
other statement has them come near.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

LANE, ROWS, COLUMNS = "i", 40, 30
WIDTHS = (2, 3, 4, 8, 16, 32)


@dataclass(frozen=True)
class Term:
    """`(sum of factor * variable + constant) floordiv divisor`."""

    factors: tuple[tuple[str, int], ...]
    constant: int
    divisor: int = 1

    def value(self, at: dict[str, int]) -> int:
        """What it is where the variables have these values."""
        total = self.constant + sum(factor * at[name] for name, factor in self.factors)
        return total // self.divisor

    def __str__(self) -> str:
        parts = [f"{name} * {factor}" for name, factor in self.factors]
        total = " + ".join((*parts, str(self.constant)))
        return f"({total}) floordiv {self.divisor}" if self.divisor > 1 else total


@dataclass(frozen=True)
class Control:
    """A loop over a variable between bounds, or the condition that all of `lower` are >= 0."""

    variable: str | None
    around: tuple[str, ...]
    lower: tuple[Term, ...]
    upper: tuple[Term, ...] = ()
    step: int = 1

    def runs(self, at: dict[str, int]) -> Iterator[dict[str, int]]:
        """The values inside of it."""
        lower = [term.value(at) for term in self.lower]
        if self.variable is None:
            if min(lower) >= 0:
                yield at
            return
        for value in range(max(lower), min(term.value(at) for term in self.upper), self.step):
            yield {**at, self.variable: value}

    def __str__(self) -> str:
        names, operands = ", ".join(self.around), ", ".join(f"%{name}" for name in self.around)
        if self.variable is None:
            holds = ", ".join(f"{term} >= 0" for term in self.lower)
            return f"affine.if affine_set<({names}) : ({holds})>({operands})"
        lower, upper = (
            f"{kind} affine_map<({names}) -> ({', '.join(map(str, terms))})>({operands})"
            for kind, terms in (("max", self.lower), ("min", self.upper))
        )
        step = f" step {self.step}" if self.step > 1 else ""
        return f"affine.for %{self.variable} = {lower} to {upper}{step}"


@dataclass(frozen=True)
class DivergentProgram:
    """Nested controls around one statement, an update of elements of a type."""

    controls: tuple[Control, ...]
    kind: str
    operation: str
    width: int

    @cached_property
    def first(self) -> int | None:
        """The first lane that comes to the statement; None if there is none."""
        return next((lane for lane in range(COLUMNS) if self._comes(lane)), None)

    def _comes(self, lane: int) -> bool:
        found = [{LANE: lane}]
        for control in self.controls:
            found = [inside for at in found for inside in control.runs(at)]
        return bool(found)

    @property
    def text(self) -> str:
        """As MLIR."""
        outer, *inner = self.controls
        first = self.first or 0
        b, c = (f"memref<{extent}x{self.kind}>" for extent in (COLUMNS - first, COLUMNS))
        loops = "".join(f"{each} {{\n" for each in inner)
        return f"""
func.func @f(%A: memref<{ROWS}x{COLUMNS}x{self.kind}>, %B: {b}, %C: {c}) {{
  affine.for %{LANE} = 0 to {COLUMNS} {{
    {outer} {{
      %a = affine.load %A[%{outer.variable}, %{LANE}] : memref<{ROWS}x{COLUMNS}x{self.kind}>
{loops}
        %s = affine.load %B[%{LANE} - {first}] : {b}
        %t = {self.operation} %s, %a : {self.kind}
        affine.store %t, %B[%{LANE} - {first}] : {b}
{"}" * len(inner)}
      %u = affine.load %C[%{LANE}] : {c}
      %v = {self.operation} %u, %a : {self.kind}
      affine.store %v, %C[%{LANE}] : {c}
    }}
  }}
  return
}}
"""


def divergent_program(seed: int) -> DivergentProgram:
    """The program of this number; some do nothing at all."""
    source = random.Random(seed)
    controls: list[Control] = []
    names: tuple[str, ...] = (LANE,)
    for variable in "klq"[: source.choice((1, 2, 2, 3))]:
        if controls and source.random() < 0.4:
            terms = tuple(_term(source, names) for _ in range(source.choice((1, 1, 2))))
            controls.append(Control(None, names, terms))
            continue
        lower, upper = ([_term(source, names) for _ in range(2)] for _ in range(2))
        least, most = Term((), 0), Term((), source.choice((7, ROWS)))
        step = source.choice((1, 1, 1, 2))
        bounds = (least, *lower[: source.randint(0, 2)]), (most, *upper[: source.randint(0, 2)])
        controls.append(Control(variable, names, *bounds, step))
        names = (*names, variable)
    kind = source.choice(("f32", "f64", "i32"))
    operation = source.choice(("add", "mul", "max"))
    suffix = {"max": "imumf" if kind[0] == "f" else "si"}.get(operation, kind[0])
    width = source.choice(WIDTHS)
    return DivergentProgram(tuple(controls), kind, f"arith.{operation}{suffix}", width)


def _term(source: random.Random, names: tuple[str, ...]) -> Term:
    used = source.sample(names, source.randint(1, min(2, len(names))))
    factors = tuple((name, source.choice((1, 1, -1, -1, 2, -2, 3))) for name in used)
    falls = sum(factor for _, factor in factors) < 0
    constant = source.randint(-9, 9) + falls * source.choice((5, 20, 40))
    return Term(factors, constant, source.choice((1, 1, 1, 1, 2, 4)))
