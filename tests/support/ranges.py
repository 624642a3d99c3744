"""Affine expressions of index values, with bounds that hold for all sizes.

A random program is in bounds by construction because each index value carries a lower and an upper
bound that are linear in the (non-negative) sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Linear:
    """`sum(coefficients[p] * p) + constant` over sizes `p >= 0`."""

    coefficients: tuple[tuple[str, int], ...] = ()
    constant: int = 0

    @staticmethod
    def of(coefficients: Mapping[str, int], constant: int) -> Linear:
        """Drops zero coefficients and sorts the others."""
        kept = tuple(sorted((name, c) for name, c in coefficients.items() if c))
        return Linear(kept, constant)

    @staticmethod
    def size(name: str) -> Linear:
        """The size itself."""
        return Linear(((name, 1),))

    def __add__(self, other: Linear) -> Linear:
        total = dict(self.coefficients)
        for name, coefficient in other.coefficients:
            total[name] = total.get(name, 0) + coefficient
        return Linear.of(total, self.constant + other.constant)

    def shifted(self, amount: int) -> Linear:
        """`self + amount`."""
        return Linear(self.coefficients, self.constant + amount)

    def __mul__(self, factor: int) -> Linear:
        return Linear.of({n: c * factor for n, c in self.coefficients}, self.constant * factor)

    def evaluate(self, sizes: Mapping[str, int]) -> int:
        """The value for given sizes."""
        return self.constant + sum(c * sizes[name] for name, c in self.coefficients)

    def never_negative(self) -> bool:
        """Whether the value is at least 0 for all sizes."""
        return self.constant >= 0 and all(c >= 0 for _, c in self.coefficients)

    def missing(self) -> Linear:
        """The least that must be added so that the value is never negative."""
        lacking = {name: -c for name, c in self.coefficients if c < 0}
        return Linear.of(lacking, max(0, -self.constant))


def join(bounds: Iterable[Linear]) -> Linear:
    """An upper bound of all `bounds` (of which there is at least one)."""
    bounds = list(bounds)
    largest: dict[str, int] = {}
    for bound in bounds:
        for name, coefficient in bound.coefficients:
            largest[name] = max(coefficient, largest.get(name, 0))
    return Linear.of(largest, max(bound.constant for bound in bounds))


@dataclass(frozen=True)
class Index:
    """An SSA value of type index with `low <= value <= high` wherever it is used."""

    name: str
    low: Linear
    high: Linear


@dataclass(frozen=True)
class Affine:
    """`wrap(sum of coefficient * index + linear in the sizes) + after`, and its bounds.

    `wrap` is empty, or `mod 3`, `floordiv 2`.
    """

    terms: tuple[tuple[Index, int], ...] = ()
    sizes: Linear = Linear()
    wrap: str = ""
    after: int = 0

    @property
    def low(self) -> Linear:
        """A lower bound."""
        if self.wrap:
            return Linear((), self.after)
        return self._sum(False)

    @property
    def high(self) -> Linear:
        """An upper bound; `floordiv` needs an operand that is never negative."""
        if self.wrap.startswith("mod"):
            return Linear((), int(self.wrap.split()[1]) - 1 + self.after)
        return self._sum(True).shifted(self.after)

    def _sum(self, upper: bool) -> Linear:
        total = self.sizes
        for index, coefficient in self.terms:
            total = total + (index.high if (coefficient > 0) == upper else index.low) * coefficient
        return total

    def plus(self, amount: Linear) -> Affine:
        """`self + amount` (before wrapping)."""
        return Affine(self.terms, self.sizes + amount, self.wrap, self.after)

    def wrapped(self, wrap: str) -> Affine:
        """`self` under `mod c` or `floordiv c`, made non-negative first."""
        return Affine(self.terms, self.sizes + self.low.missing(), wrap)

    def text(self, names: Mapping[str, str] | None = None) -> str:
        """The expression in MLIR's syntax, with index and size names replaced by `names`."""
        weights = [(index.name, c) for index, c in self.terms]
        weights += list(self.sizes.coefficients)
        text = ""
        for name, coefficient in weights:
            factor = "" if abs(coefficient) == 1 else f" * {abs(coefficient)}"
            sign = (" - " if coefficient < 0 else " + ") if text else "-" if coefficient < 0 else ""
            text += f"{sign}{(names or {}).get(name, name)}{factor}"
        text = _plus(text, self.sizes.constant)
        if self.wrap:
            text = _plus(f"({text}) {self.wrap}", self.after)
        return text


def _plus(text: str, constant: int) -> str:
    if not text:
        return str(constant)
    return text if not constant else f"{text} {'-' if constant < 0 else '+'} {abs(constant)}"


def operands(expressions: Iterable[Affine]) -> tuple[dict[str, str], str, str]:
    """Dims and symbols for `expressions`: SSA name -> map name, `(d0)[s0]`, `(%i)[%n]`."""
    expressions = list(expressions)
    dims = list(dict.fromkeys(index.name for e in expressions for index, _ in e.terms))
    symbols = list(dict.fromkeys(name for e in expressions for name, _ in e.sizes.coefficients))
    names = {name: f"d{n}" for n, name in enumerate(dims)}
    names |= {name: f"s{n}" for n, name in enumerate(symbols)}
    formal = "(" + ", ".join(names[name] for name in dims) + ")"
    actual = "(" + ", ".join(dims) + ")"
    if symbols:
        formal += "[" + ", ".join(names[name] for name in symbols) + "]"
        actual += "[" + ", ".join(symbols) + "]"
    return names, formal, actual


def affine_map(expressions: Iterable[Affine]) -> str:
    """`affine_map<(d0)[s0] -> (d0 + s0, 3)>(%i)[%n]`."""
    expressions = list(expressions)
    names, formal, actual = operands(expressions)
    results = ", ".join(expression.text(names) for expression in expressions)
    return f"affine_map<{formal} -> ({results})>{actual}"


def affine_set(constraints: Iterable[tuple[Affine, str]]) -> str:
    """`affine_set<(d0) : (d0 - 1 >= 0)>(%i)` from pairs such as `(i - 1, ">=")`."""
    constraints = list(constraints)
    names, formal, actual = operands(expression for expression, _ in constraints)
    results = ", ".join(f"{expression.text(names)} {sign} 0" for expression, sign in constraints)
    return f"affine_set<{formal} : ({results})>{actual}"
