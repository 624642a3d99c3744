"""Rows longer than a size: `A[i * (m + 1) + j]`, `A[i * (n - 1) + j]`, `A[(i * m + j) * 3 + c]`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import gcd, prod

from ..text.affine import Affine, Name
from .polynomials import Polynomial


@dataclass(frozen=True)
class PaddedLength(Name):
    """The length `factor * base + padding` of rows, where a subscript is looked at.

    It is no name in the text.
    """

    base: Name
    padding: int
    factor: int = 1


def spelled_length(name: Name, spelled: Mapping[str, str]) -> str:
    """A length of rows in C; `spelled` has the sizes by their names in the text."""
    if not isinstance(name, PaddedLength):
        return spelled[name.text]
    base = spelled[name.base.text]
    if name.factor != 1:
        return f"{name.factor} * {base}"
    return f"{base} {'+' if name.padding > 0 else '-'} {abs(name.padding)}"


def length_of(name: Name) -> Affine:
    """A length of rows as the text has it."""
    if isinstance(name, PaddedLength):
        return Affine.of(name.base).times(name.factor).plus(Affine(constant=name.padding))
    return Affine.of(name)


def in_padded_rows(polynomial: Polynomial, lengths: Sequence[Name]) -> Polynomial:
    """A polynomial with `(length - padding) / factor` in place of the sizes that lengths have."""
    padded = {each.base: each for each in lengths if isinstance(each, PaddedLength)}
    if not padded:
        return polynomial
    result = Polynomial({})
    for monomial, coefficient in polynomial.terms.items():
        scale = prod(padded[each].factor for each in monomial if each in padded)
        whole, rest = divmod(coefficient, scale)
        product = Polynomial({(): coefficient if rest else whole})
        for term in monomial:
            found = padded.get(term) if isinstance(term, Name) and not rest else None
            affine = Affine.of(term if found is None else found)
            if found is not None:
                affine = affine.plus(Affine(constant=-found.padding))
            product = product.times(Polynomial.of(affine))
        result = result.plus(product)
    return result


def unpadded(part: Affine) -> Affine:
    """An affine expression with the sizes again in place of padded lengths."""
    result = Affine(constant=part.constant)
    for term, factor in part.terms:
        whole = length_of(term) if isinstance(term, Name) else Affine.of(term)
        result = result.plus(whole, factor)
    return result


def paddings(polynomial: Polynomial, size: Name) -> Iterator[PaddedLength]:
    """The lengths that would explain why loop variables are added to multiples of a size.

    i * m + i + j   ->   i * (m + 1) + j            3 * i * m + 3 * j + c   ->   i * (3 * m) + ...
    """
    products = (n for each, n in polynomial.terms.items() if len(each) > 1 and size in each)
    factor = gcd(*products)
    if factor > 1:
        yield PaddedLength(f"{factor} * {size.text}", True, size, 0, factor)
    found: set[int] = set()
    for monomial, factor in polynomial.terms.items():
        if len(monomial) != 2 or size not in monomial:
            continue
        rest = list(monomial)
        rest.remove(size)
        (term,) = rest
        if isinstance(term, Name) and term.symbol:
            continue
        padding, remainder = divmod(polynomial.terms.get((term,), 0), factor)
        if padding and not remainder and padding not in found:
            found.add(padding)
            yield PaddedLength(f"{size.text} + {padding}", True, size, padding)
