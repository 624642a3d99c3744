"""Gradient of the network over rows, in NumPy: what adapts it without torch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .adamw import Gradient
from .row_network import (
    LARGEST_CORRECTION,
    Matrix,
    RowBatch,
    RowNetwork,
    halves,
    linear,
    sigmoid,
    standardised,
)


@dataclass(frozen=True, eq=False)
class _Layer:
    """What a layer has given: before the activation, its derivative's input, and after dropout."""

    before: Matrix
    mask: Matrix
    after: Matrix

    @classmethod
    def of(cls, before: Matrix, dropout: float, random: np.random.Generator) -> _Layer:
        """SiLU and dropout."""
        kept = random.random(before.shape, np.float32) >= dropout
        mask = kept.astype(np.float32) / np.float32(1.0 - dropout)
        return cls(before, mask, before * sigmoid(before) * mask)

    def back(self, slopes: Matrix) -> Matrix:
        """Slopes before the activation, from those after dropout."""
        share = sigmoid(self.before)
        return slopes * self.mask * share * (1.0 + self.before * (1.0 - share))


class Pass:
    """One pass through a network with dropout: `factors`, and the way back."""

    def __init__(
        self, network: RowNetwork, batch: RowBatch, dropout: float, random: np.random.Generator
    ) -> None:
        """The way forward; dropout makes rows differ that are alike."""
        w = network.weights
        self._weights = w
        self._batch = batch
        self._inputs = standardised(batch.logarithms(network.seconds), w)[batch.inverse]
        self._first = _Layer.of(linear(self._inputs, w, "statements.0"), dropout, random)
        self._second = _Layer.of(linear(self._first.after, w, "statements.3"), dropout, random)
        of_row, of_group = halves(w)
        found = self._second.after
        self._together = batch.sums(found) / batch.sizes[:, None]
        values = found @ of_row.T + w["corrections.0.bias"]
        values += (self._together @ of_group.T)[batch.owner]
        self._third = _Layer.of(values, dropout, random)
        self._corrections = linear(self._third.after, w, "corrections.3")[:, 0]
        limited = np.clip(self._corrections, -LARGEST_CORRECTION, LARGEST_CORRECTION)
        self.factors: Matrix = np.exp(limited)

    def gradient(self, slopes: Matrix) -> Gradient:
        """That of all weights, from the slopes of the factors (number,)."""
        w, batch = self._weights, self._batch
        result: Gradient = {}
        slopes = slopes * self.factors * (np.abs(self._corrections) < LARGEST_CORRECTION)
        last = slopes[:, None].astype(np.float32)
        _of_layer(result, "corrections.3", last, self._third.after)
        values = self._third.back(last @ w["corrections.3.weight"])
        of_row, of_group = halves(w)
        around = batch.sums(values)
        result["corrections.0.weight"] = np.concatenate(
            [values.T @ self._second.after, around.T @ self._together], axis=1
        )
        result["corrections.0.bias"] = values.sum(axis=0)
        group = (around @ of_group) / batch.sizes[:, None]
        values = self._second.back(values @ of_row + group[batch.owner])
        _of_layer(result, "statements.3", values, self._first.after)
        values = self._first.back(values @ w["statements.3.weight"])
        _of_layer(result, "statements.0", values, self._inputs)
        return result


def _of_layer(result: Gradient, name: str, slopes: Matrix, inputs: Matrix) -> None:
    result[f"{name}.weight"] = slopes.T @ inputs
    result[f"{name}.bias"] = slopes.sum(axis=0)
