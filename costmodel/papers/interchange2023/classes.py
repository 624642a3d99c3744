"""Classes of interchanges: none, or a pair among the first seven levels of a nest.

Source: Mezdoor et al., "A deep learning model for loop interchange", CC 2023, section 5.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ....passes.search.space.loop_pairs import LEVELS, Levels

NONE = 0
"""The class of the order as written."""

CLASSES: tuple[Levels | None, ...] = (None, *combinations(range(LEVELS), 2))
"""What each of the 22 classes swaps, by number."""

SHOTS = 5
"""Ordered answers of one evaluation (k in the paper)."""

_NUMBERS = {levels: number for number, levels in enumerate(CLASSES)}


def class_of(levels: Levels | None) -> int:
    """The number of a class."""
    return _NUMBERS[levels]


def answers(ratings: NDArray[np.float64], legal: Sequence[int]) -> list[int]:
    """Ordered answers for one nest, of its legal classes: each once, at most `SHOTS`.

    `ratings` is (shots, classes); shot n answers what row n rates highest of what is left.
    """
    left = list(legal)
    found: list[int] = []
    for row in ratings[: len(left)]:
        best = max(left, key=lambda number: float(row[number]))
        found.append(best)
        left.remove(best)
    return found
