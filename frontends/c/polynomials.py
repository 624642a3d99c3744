"""Polynomials of loop variables and sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ..text.affine import Affine, Term

Monomial: TypeAlias = "tuple[Term, ...]"


@dataclass(frozen=True)
class Polynomial:
    """A sum of products with coefficients; the empty product is the constant."""

    terms: Mapping[Monomial, int]

    @classmethod
    def of(cls, affine: Affine) -> Polynomial:
        """An affine expression."""
        terms: dict[Monomial, int] = {(term,): factor for term, factor in affine.terms}
        return cls(terms | ({(): affine.constant} if affine.constant else {}))

    def plus(self, other: Polynomial, factor: int = 1) -> Polynomial:
        """`self + factor * other`."""
        terms = dict(self.terms)
        for monomial, coefficient in other.terms.items():
            terms[monomial] = terms.get(monomial, 0) + factor * coefficient
        return Polynomial({each: n for each, n in terms.items() if n})

    def times(self, other: Polynomial) -> Polynomial:
        """The product."""
        result = Polynomial({})
        for one, first in self.terms.items():
            for two, second in other.terms.items():
                monomial = tuple(sorted((*one, *two), key=str))
                result = result.plus(Polynomial({monomial: first * second}))
        return result
