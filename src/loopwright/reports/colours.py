"""Colours that people with colour-vision deficiencies can tell apart.

Categories are those of Okabe and Ito, "Color universal design", 2008; the sequential scale is
cividis (Nunez, Anderton and Renslow, 2018).
"""

from __future__ import annotations

CATEGORIES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")

SEQUENCE = (
    *("#00224E", "#123570", "#3B496C", "#575D6D", "#707173", "#8A8678"),
    *("#A59C74", "#C3B369", "#E1CC55", "#FEE838"),
)


def category(number: int) -> str:
    """The colour of a category; the eighth is that of the first again."""
    return CATEGORIES[number % len(CATEGORIES)]


def position(number: int, count: int) -> str:
    """The colour of the position `number` of so many in a row, from dark to light."""
    if count <= 1:
        return SEQUENCE[0]
    return SEQUENCE[round(number * (len(SEQUENCE) - 1) / (count - 1))]
