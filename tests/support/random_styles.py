"""What the loops of a random program have in common."""

from __future__ import annotations

from dataclasses import dataclass

from .choice import Chooser, chance, choose

# Constant bounds of loops, short ones and empty ones among them.
EXTENTS = (4, 5, 6, 3, 7, 8, 9, 2, 1, 0)


@dataclass(frozen=True)
class Style:
    """Steps to choose from; percentages of bounds that are quotients, of guarded loop bodies.

    With `constant_bounds`, the program has no sizes. It has at most `most_arguments` arrays, apart
    from those that it needs for itself: the fewer, the more reads of one array.
    """

    steps: tuple[int, ...]
    divided: int
    guarded: int
    constant_bounds: bool
    most_arguments: int


def draw_style(chooser: Chooser) -> Style:
    """One of the styles: what goes wrong needs several rare things at once."""
    return Style(
        steps=choose(chooser, ((1,), (1, 1, 1, 2, 3), (2, 3, 1, 4, 5))),
        divided=choose(chooser, (0, 10, 50)),
        guarded=choose(chooser, (0, 10, 40)),
        constant_bounds=chance(chooser, 25),
        most_arguments=choose(chooser, (5, 3, 2, 1)),
    )
