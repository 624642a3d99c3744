"""Random quasi-affine expressions: sums, multiples, `mod`, `floordiv` and `ceildiv` of indices."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .choice import Chooser, chance, choose
from .ranges import Affine, Index, Linear

OPERATIONS = ("floordiv", "mod", "ceildiv")
DIVISORS = (2, 3, 4, 5, 7)
OFFSETS = (0, 0, 1, -1, 2, -2)


def multiple(index: Index, coefficient: int = 1) -> Affine:
    """`coefficient * index`."""
    return Affine(((index, coefficient),))


def linear(chooser: Chooser, indices: Sequence[Index]) -> Affine:
    """One or two multiples of indices, and a small offset; a constant where there are none."""
    if not indices:
        return Affine.constant(chooser.integer(0, 3))
    form = chooser.integer(0, 7)
    total = multiple(choose(chooser, indices))
    if form >= 6:
        total = total * choose(chooser, (-1, 2, 3, -2))
    elif form >= 4:
        total = total + multiple(choose(chooser, indices), choose(chooser, (1, -1, 2, -2)))
    return total.shifted(choose(chooser, OFFSETS))


def quotient(chooser: Chooser, operand: Affine) -> Affine:
    """`operand` under a division, at times in another one, scaled and moved."""
    result = operand.divided(choose(chooser, OPERATIONS), choose(chooser, DIVISORS))
    if chance(chooser, 12):
        result = result.shifted(choose(chooser, OFFSETS))
        result = result.divided(choose(chooser, OPERATIONS), choose(chooser, DIVISORS))
    return (result * choose(chooser, (1, 1, 1, -1, 2))).shifted(choose(chooser, (0, 0, 1, -1)))


def quasi_affine(
    chooser: Chooser, indices: Sequence[Index], extent: Callable[[], Linear]
) -> Affine:
    """Any expression of the indices and, now and then, an extent; it may be negative."""
    form = chooser.integer(0, 9)
    if form <= 4:
        return linear(chooser, indices)
    if form == 5:
        return (linear(chooser, indices) * -1).plus(extent())
    if form == 6 and indices:
        return multiple(choose(chooser, indices)) + quotient(chooser, linear(chooser, indices))
    if form == 7:
        operand = linear(chooser, indices).plus(extent())
        return quotient(chooser, operand)
    return quotient(chooser, linear(chooser, indices))
