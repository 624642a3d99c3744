"""Bounds of multilinear polynomials, where intervals forget that two terms depend on each other.

    x * a + y * (255 - a), with x, y and a in [0, 255]: at most 255 * 255, by intervals twice that

What is linear in each of its variables is least and greatest at corners of the box.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from math import prod
from typing import TypeAlias

from xdsl.ir import SSAValue

Monomial: TypeAlias = frozenset[SSAValue]
Polynomial: TypeAlias = Mapping[Monomial, int]
"""The coefficients of products of different variables."""

MOST_TERMS = 24
MOST_CORNERS = 5
"""Variables, of products, of which all corners are looked at."""


def constant(value: int) -> Polynomial:
    """A polynomial without variables."""
    return {frozenset(): value}


def variable(value: SSAValue) -> Polynomial:
    """A value that is a variable itself."""
    return {frozenset((value,)): 1}


def total(left: Polynomial, right: Polynomial, factor: int = 1) -> Polynomial | None:
    """left + factor * right; None where it is too long."""
    result = dict(left)
    for monomial, coefficient in right.items():
        result[monomial] = result.get(monomial, 0) + factor * coefficient
    return result if len(result) <= MOST_TERMS else None


def multiplied(left: Polynomial, right: Polynomial) -> Polynomial | None:
    """The product; None where it is not linear in each variable, or too long."""
    if len(left) * len(right) > MOST_TERMS:
        return None
    result: dict[Monomial, int] = {}
    for (one, a), (other, b) in product(left.items(), right.items()):
        if a and b:
            if one & other:
                return None
            result[one | other] = result.get(one | other, 0) + a * b
    return result


def variables(polynomial: Polynomial) -> frozenset[SSAValue]:
    """What the polynomial is a function of."""
    return frozenset[SSAValue]().union(*polynomial)


def bounds(
    polynomial: Polynomial, box: Callable[[SSAValue], tuple[int, int]]
) -> tuple[int, int] | None:
    """The least and the greatest value over a box; None where it has too many corners."""
    terms = {monomial: factor for monomial, factor in polynomial.items() if factor}
    coupled = sorted(frozenset[SSAValue]().union(*(m for m in terms if len(m) > 1)), key=id)
    if len(coupled) > MOST_CORNERS:
        return None
    alone = [m for m in terms if len(m) == 1 and m.isdisjoint(coupled)]
    low = high = 0
    for monomial in alone:
        (value,) = monomial
        factor = terms.pop(monomial)
        ends = [factor * end for end in box(value)]
        low, high = low + min(ends), high + max(ends)
    found: list[int] = []
    for corner in product(*(box(value) for value in coupled)):
        at = dict(zip(coupled, corner, strict=True))
        found.append(sum(factor * prod(at[v] for v in m) for m, factor in terms.items()))
    return low + min(found), high + max(found)
