"""Network that compares two schedules. Inference, in NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.floating[Any]]
"""In single precision."""

Values = NDArray[np.float64]


class DuelNetwork:
    """Features of two schedules -> which one is faster: two numbers, to be normalised.

    Layers with ReLU between them; `weights` are named as in torch.
    """

    def __init__(self, widths: Sequence[int]) -> None:
        """A network that prefers none."""
        self.widths = tuple(widths)
        self.weights: dict[str, Rows] = {}
        for number, (width, following) in enumerate(pairwise(widths)):
            self.weights[f"{2 * number}.weight"] = np.zeros((following, width), np.float32)
            self.weights[f"{2 * number}.bias"] = np.zeros(following, np.float32)

    def restore(self, weights: Mapping[str, Any]) -> None:
        """Takes over weights; raises KeyError, ValueError for those of another network."""
        found = {name: np.asarray(weights[name], np.float32) for name in self.weights}
        if any(found[name].shape != own.shape for name, own in self.weights.items()):
            raise ValueError("weights of another shape")
        self.weights = found

    def chances(self, duels: Rows) -> Rows:
        """The probabilities that the first and the second schedule of each duel wins."""
        values = duels
        for number in range(len(self.widths) - 1):
            values = np.maximum(values, 0.0) if number else values
            values = values @ self.weights[f"{2 * number}.weight"].T
            values += self.weights[f"{2 * number}.bias"]
        values = np.exp(values - values.max(axis=1, keepdims=True))
        return values / values.sum(axis=1, keepdims=True)


def scaled(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each column from 0 to 1: min-max scaling among the schedules that compete."""
    low = rows.min(axis=0)
    span = np.ptp(rows, axis=0)
    return ((rows - low) / np.where(span > 0, span, 1)).astype(np.float32)
