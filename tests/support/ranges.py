"""Affine expressions of index values, with bounds that hold for all sizes.

A random program is in bounds by construction because each index value carries a lower and an upper
bound that are linear in the (non-negative) sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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
class Quotient:
    """`operand mod divisor`, `floordiv` or `ceildiv`; the divisor is positive."""

    operand: Affine
    operation: str
    divisor: int

    @property
    def low(self) -> Linear:
        """A lower bound."""
        if self.operation == "mod":
            return Linear()
        return self._divided(self.operand.low, lambda value: value // self.divisor)

    @property
    def high(self) -> Linear:
        """An upper bound."""
        if self.operation == "mod":
            return Linear((), self.divisor - 1)
        return self._divided(self.operand.high, lambda value: -(-value // self.divisor))

    def _divided(self, bound: Linear, rounded: Callable[[int], int]) -> Linear:
        """Sizes are not negative: their coefficients may be rounded each in the same direction."""
        up = self.operation == "ceildiv"
        constant = -(-bound.constant // self.divisor) if up else bound.constant // self.divisor
        return Linear.of({name: rounded(c) for name, c in bound.coefficients}, constant)

    def indices(self) -> list[Index]:
        """The index values in the operand."""
        return self.operand.indices()

    def text(self, names: Mapping[str, str]) -> str:
        """The quotient in MLIR's syntax, in parentheses."""
        return f"(({self.operand.text(names)}) {self.operation} {self.divisor})"


Term = Index | Quotient


@dataclass(frozen=True)
class Affine:
    """A sum of multiples of index values and quotients, plus a linear function of the sizes."""

    terms: tuple[tuple[Term, int], ...] = ()
    sizes: Linear = Linear()

    @staticmethod
    def constant(value: int) -> Affine:
        """A number."""
        return Affine((), Linear((), value))

    @property
    def low(self) -> Linear:
        """A lower bound."""
        return self._sum(False)

    @property
    def high(self) -> Linear:
        """An upper bound."""
        return self._sum(True)

    def _sum(self, upper: bool) -> Linear:
        total = self.sizes
        for term, coefficient in self.terms:
            total = total + (term.high if (coefficient > 0) == upper else term.low) * coefficient
        return total

    def indices(self) -> list[Index]:
        """The index values, also those in quotients."""
        return [
            index
            for term, _ in self.terms
            for index in ([term] if isinstance(term, Index) else term.indices())
        ]

    def symbols(self) -> list[str]:
        """The sizes, also those in quotients."""
        inner = [n for t, _ in self.terms if isinstance(t, Quotient) for n in t.operand.symbols()]
        return [*(name for name, _ in self.sizes.coefficients), *inner]

    def __add__(self, other: Affine) -> Affine:
        total: dict[Term, int] = {}
        for term, coefficient in (*self.terms, *other.terms):
            total[term] = total.get(term, 0) + coefficient
        kept = tuple((term, coefficient) for term, coefficient in total.items() if coefficient)
        return Affine(kept, self.sizes + other.sizes)

    def __mul__(self, factor: int) -> Affine:
        terms = tuple((term, coefficient * factor) for term, coefficient in self.terms if factor)
        return Affine(terms, self.sizes * factor)

    def plus(self, amount: Linear) -> Affine:
        """`self + amount`."""
        return Affine(self.terms, self.sizes + amount)

    def shifted(self, amount: int) -> Affine:
        """`self + amount`."""
        return self.plus(Linear((), amount))

    def divided(self, operation: str, divisor: int) -> Affine:
        """`self` under `mod`, `floordiv` or `ceildiv`."""
        return Affine(((Quotient(self, operation, divisor), 1),))

    def text(self, names: Mapping[str, str] | None = None) -> str:
        """The expression in MLIR's syntax, with index and size names replaced by `names`."""
        known = names or {}
        weights = [
            (known.get(t.name, t.name) if isinstance(t, Index) else t.text(known), c)
            for t, c in self.terms
        ]
        weights += [(known.get(name, name), c) for name, c in self.sizes.coefficients]
        text = ""
        for name, coefficient in weights:
            factor = "" if abs(coefficient) == 1 else f" * {abs(coefficient)}"
            sign = (" - " if coefficient < 0 else " + ") if text else "-" if coefficient < 0 else ""
            text += f"{sign}{name}{factor}"
        return _plus(text, self.sizes.constant)


def _plus(text: str, constant: int) -> str:
    if not text:
        return str(constant)
    return text if not constant else f"{text} {'-' if constant < 0 else '+'} {abs(constant)}"


def operands(expressions: Iterable[Affine]) -> tuple[dict[str, str], str, str]:
    """Dims and symbols for `expressions`: SSA name -> map name, `(d0)[s0]`, `(%i)[%n]`."""
    expressions = list(expressions)
    dims = list(dict.fromkeys(index.name for e in expressions for index in e.indices()))
    symbols = list(dict.fromkeys(name for e in expressions for name in e.symbols()))
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
