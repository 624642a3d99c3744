"""Affine expressions over loop variables and sizes, with minima and maxima of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Name:
    """A loop variable, or a size (a symbol), by its name in the text."""

    text: str
    symbol: bool


@dataclass(frozen=True)
class Quotient:
    """The floor of an affine expression over a positive constant, or what is left (`mod`)."""

    operator: str
    dividend: Affine
    divisor: int


Term: TypeAlias = Name | Quotient


@dataclass(frozen=True)
class Affine:
    """A sum of terms with coefficients, and a constant."""

    terms: tuple[tuple[Term, int], ...] = ()
    constant: int = 0

    @classmethod
    def of(cls, term: Term) -> Affine:
        """A term alone."""
        return cls(((term, 1),))

    def plus(self, other: Affine, factor: int = 1) -> Affine:
        """`self + factor * other`."""
        terms = dict(self.terms)
        for term, coefficient in other.terms:
            terms[term] = terms.get(term, 0) + factor * coefficient
        kept = tuple((term, coefficient) for term, coefficient in terms.items() if coefficient)
        return Affine(kept, self.constant + factor * other.constant)

    def times(self, factor: int) -> Affine:
        """A multiple."""
        return Affine().plus(self, factor)

    def names(self) -> list[Name]:
        """The loop variables and sizes in it, each once."""
        found: dict[Name, None] = {}
        for term, _ in self.terms:
            names = [term] if isinstance(term, Name) else term.dividend.names()
            found.update(dict.fromkeys(names))
        return list(found)

    def render(self, spellings: Mapping[Name, str] | None = None) -> str:
        """As in a subscript, or with these spellings of names as in a map."""
        parts = sorted(self.terms, key=lambda part: part[1] < 0)
        text = ""
        for term, coefficient in parts:
            spelling = _render(term, spellings)
            size = abs(coefficient)
            product = spelling if size == 1 else f"{spelling} * {size}"
            if not text:
                text = product if coefficient > 0 else f"{spelling} * {coefficient}"
            else:
                text += f" {'+' if coefficient > 0 else '-'} {product}"
        if not text:
            return str(self.constant)
        if self.constant:
            text += f" {'+' if self.constant > 0 else '-'} {abs(self.constant)}"
        return text


def _render(term: Term, spellings: Mapping[Name, str] | None) -> str:
    if isinstance(term, Quotient):
        return f"(({term.dividend.render(spellings)}) {term.operator} {term.divisor})"
    if spellings is not None:
        return spellings[term]
    return f"symbol(%{term.text})" if term.symbol else f"%{term.text}"


def quotient(operator: str, dividend: Affine, divisor: int) -> Affine:
    """`floordiv`, `ceildiv` or `mod` by a positive constant."""
    if not dividend.terms:
        value = dividend.constant
        results = {"floordiv": value // divisor, "ceildiv": -(-value // divisor)}
        return Affine(constant=results.get(operator, value % divisor))
    factors = [dividend.constant, *(factor for _, factor in dividend.terms)]
    if all(factor % divisor == 0 for factor in factors):
        terms = tuple((term, factor // divisor) for term, factor in dividend.terms)
        return Affine() if operator == "mod" else Affine(terms, dividend.constant // divisor)
    return Affine.of(Quotient(operator, dividend, divisor))


@dataclass(frozen=True)
class Index:
    """An integer value that is affine, or the minimum or maximum (`kind`) of several that are."""

    parts: tuple[Affine, ...]
    kind: str = ""

    @property
    def affine(self) -> Affine | None:
        """The expression, where it is one alone."""
        return self.parts[0] if len(self.parts) == 1 else None

    def plus(self, other: Index, factor: int = 1) -> Index | None:
        """`self + factor * other`; None where that is no minimum or maximum."""
        kind = _flipped(other.kind) if factor < 0 else other.kind
        if self.kind and kind and self.kind != kind:
            return None
        parts = tuple(a.plus(b, factor) for a in self.parts for b in other.parts)
        return Index(parts, self.kind or kind)

    def times(self, factor: int) -> Index:
        """A multiple."""
        parts = tuple(part.times(factor) for part in self.parts)
        return Index(parts, _flipped(self.kind) if factor < 0 else self.kind)


def _flipped(kind: str) -> str:
    return {"min": "max", "max": "min", "": ""}[kind]


def extremum(kind: str, values: Sequence[Index]) -> Index | None:
    """The minimum or maximum of several; None where the two are mixed."""
    if any(value.kind not in ("", kind) for value in values):
        return None
    parts = tuple(dict.fromkeys(part for value in values for part in value.parts))
    return Index(parts, kind if len(parts) > 1 else "")


def _spelled(expressions: Sequence[Affine]) -> tuple[str, list[str], str]:
    """Dimensions and symbols of a map, its expressions, and the operands."""
    names = list(dict.fromkeys(name for each in expressions for name in each.names()))
    dims = [name for name in names if not name.symbol]
    symbols = [name for name in names if name.symbol]
    spellings = {name: f"d{position}" for position, name in enumerate(dims)}
    spellings |= {name: f"s{position}" for position, name in enumerate(symbols)}
    head = f"({', '.join(spellings[name] for name in dims)})"
    operands = f"({', '.join(f'%{name.text}' for name in dims)})"
    if symbols:
        head += f"[{', '.join(spellings[name] for name in symbols)}]"
        operands += f"[{', '.join(f'%{name.text}' for name in symbols)}]"
    return head, [each.render(spellings) for each in expressions], operands


def map_text(expressions: Sequence[Affine]) -> str:
    """`affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%n]`."""
    head, results, operands = _spelled(expressions)
    return f"affine_map<{head} -> ({', '.join(results)})>{operands}"


def bound_text(bound: Index, kind: str) -> str:
    """A bound of a loop as `affine.for` has it: the minimum or maximum (`kind`) of its parts."""
    affine = bound.affine
    if affine is None:
        return f"{kind} {map_text(bound.parts)}"
    if not affine.terms:
        return str(affine.constant)
    names = affine.names()
    return f"%{names[0].text}" if affine == Affine.of(names[0]) else map_text([affine])


def set_text(constraints: Sequence[tuple[Affine, bool]]) -> str:
    """`affine_set<(d0) : (d0 - 1 >= 0)>(%i)`; each with whether it is an equation."""
    head, results, operands = _spelled([expression for expression, _ in constraints])
    relations = (
        f"{result} {'==' if equation else '>='} 0"
        for result, (_, equation) in zip(results, constraints, strict=True)
    )
    return f"affine_set<{head} : ({', '.join(relations)})>{operands}"
