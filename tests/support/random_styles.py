"""What the loops of a random program have in common."""

from __future__ import annotations

from dataclasses import dataclass

from .choice import Chooser, chance, choose

# Constant bounds of loops, short ones and empty ones among them.
EXTENTS = (4, 5, 6, 3, 7, 8, 9, 2, 1, 0)


@dataclass(frozen=True)
class LoopStyle:
    """Steps to choose from; percentages of bounds that are quotients, of guarded loop bodies."""

    steps: tuple[int, ...]
    divided: int
    guarded: int


PLAIN = LoopStyle((1,), 0, 0)
MIXED = LoopStyle((1, 1, 1, 2, 3), 10, 10)
STRIDED = LoopStyle((1, 2, 3), 0, 0)
DIVIDED = LoopStyle((3, 2, 1), 70, 50)


@dataclass(frozen=True)
class Style:
    """How loops look, and whether the program has no sizes.

    It has at most `most_arguments` arrays, apart from those that it needs for itself: the fewer,
    the more reads of one array.
    """

    loops: LoopStyle
    constant_bounds: bool
    most_arguments: int


def draw_style(chooser: Chooser) -> Style:
    """One of the styles: what goes wrong needs several rare things at once."""
    return Style(
        loops=choose(chooser, (PLAIN, MIXED, MIXED, DIVIDED)),
        constant_bounds=chance(chooser, 30),
        most_arguments=choose(chooser, (5, 3, 2, 1)),
    )
