"""How many iterations the vectors of a loop have."""

from __future__ import annotations

from .elementary_functions import INTERLEAVED


def narrowed(lanes: int, trips: float) -> int:
    """The lanes of vectors of which half would never be used by so few iterations."""
    while lanes > 2 and trips <= lanes // 2:
        lanes //= 2
    return lanes


def lanes_for(lanes: int, trips: float, *, waits: bool) -> int:
    """The lanes of vectors for so many iterations, of registers that have `lanes` of them.

    Vectors of two registers where instructions wait for each other, as in elementary functions.
    """
    width = narrowed(lanes, trips)
    return INTERLEAVED * lanes if waits and trips >= INTERLEAVED * lanes else width
