"""Network over feature rows: a correction factor for each. Inference, in NumPy.

The statements that stand together are seen as well: as the mean of what the first layers make of
them. `row_network_training` has the same network in torch, `row_network_gradient` its gradient.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .unique_rows import unique_rows

Matrix = NDArray[np.floating[Any]]
"""In single precision."""

Weights = Mapping[str, Matrix]

LARGEST = 6.0
"""Standard deviations from the mean, beyond which all values are alike."""

LARGEST_CORRECTION = 8.0
LEAST_SECONDS = 1e-12

_NO_OVERFLOW = np.float32(80.0)
"""exp() of this has a value in single precision."""


@dataclass(frozen=True, eq=False)
class RowBatch:
    """Rows (number, features) of groups behind each other, none of them empty.

    Group n begins at row `starts[n]`; `owner` is the group of each row. `unique` are the rows that
    differ from all before them, `inverse` which of these each row is like. `known` is what
    `logarithms` has found: several networks see the same rows.
    """

    rows: Matrix
    starts: NDArray[np.int64]
    owner: NDArray[np.int64]
    unique: NDArray[np.int64]
    inverse: NDArray[np.int64]
    known: dict[int, Matrix] = field(default_factory=dict[int, Matrix])

    @classmethod
    def of(cls, groups: Sequence[Matrix]) -> RowBatch:
        """One group per matrix."""
        rows = np.concatenate(groups).astype(np.float32, copy=False)
        counts = np.array([len(group) for group in groups])
        owner = np.repeat(np.arange(len(groups)), counts)
        return cls(rows, np.cumsum(counts) - counts, owner, *unique_rows(rows))

    def logarithms(self, seconds: int) -> Matrix:
        """`logarithms` of the different rows."""
        if seconds not in self.known:
            self.known[seconds] = logarithms(self.rows[self.unique], seconds)
        return self.known[seconds]

    def sums(self, values: Matrix) -> Matrix:
        """The sum of some values (number, ...) for each group."""
        result = np.zeros((len(self.starts), *values.shape[1:]), values.dtype)
        filled = self.sizes > 0
        if filled.any():
            result[filled] = np.add.reduceat(values, self.starts[filled], axis=0)
        return result

    @property
    def sizes(self) -> Matrix:
        """How many rows each group has."""
        return np.diff(self.starts, append=len(self.owner)).astype(np.float32)


class RowNetwork:
    """Rows -> a factor for each, 1 before it has learned; column `seconds` holds small numbers.

    The names of `weights` are those of the network in torch.
    """

    def __init__(self, inputs: int, seconds: int, width: int) -> None:
        """A network that corrects nothing."""
        self.seconds = seconds
        self._shapes: Mapping[str, tuple[int, ...]] = {
            "mean": (inputs,),
            "deviation": (inputs,),
            "statements.0.weight": (width, inputs),
            "statements.0.bias": (width,),
            "statements.3.weight": (width, width),
            "statements.3.bias": (width,),
            "corrections.0.weight": (width, 2 * width),
            "corrections.0.bias": (width,),
            "corrections.3.weight": (1, width),
            "corrections.3.bias": (1,),
        }
        self.weights = {
            name: np.full(shape, float(name == "deviation"), np.float32)
            for name, shape in self._shapes.items()
        }

    def restore(self, weights: Mapping[str, Any]) -> None:
        """Takes over weights; raises KeyError, ValueError for those of another network."""
        found = {name: np.asarray(weights[name], np.float32) for name in self._shapes}
        if any(found[name].shape != shape for name, shape in self._shapes.items()):
            raise ValueError("weights of another shape")
        self.weights = found

    def factors(self, batch: RowBatch) -> Matrix:
        """The factors (number,)."""
        w = self.weights
        values = standardised(batch.logarithms(self.seconds), w)
        values = _silu(linear(values, w, "statements.0"))
        values = _silu(linear(values, w, "statements.3"))
        # The layer over a row and its group beside each other, but once per group on the group.
        of_row, of_group = halves(w)
        own = values @ of_row.T + w["corrections.0.bias"]
        together = batch.sums(values[batch.inverse]) / batch.sizes[:, None]
        around = together @ of_group.T
        values = _silu(own[batch.inverse] + around[batch.owner])
        found = linear(values, w, "corrections.3")[:, 0]
        return np.exp(np.clip(found, -LARGEST_CORRECTION, LARGEST_CORRECTION))


def logarithms(rows: Matrix, seconds: int) -> Matrix:
    """Features span orders of magnitude; seconds are less than one, and have theirs as is."""
    values = np.sign(rows) * np.log1p(np.abs(rows))
    values[:, seconds] = np.log(np.maximum(rows[:, seconds], np.float32(LEAST_SECONDS)))
    return values


def standardised(values: Matrix, weights: Weights) -> Matrix:
    """Logarithms as the first layer sees them."""
    return np.clip((values - weights["mean"]) / weights["deviation"], -LARGEST, LARGEST)


def linear(values: Matrix, weights: Weights, name: str) -> Matrix:
    """A fully connected layer."""
    return values @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def halves(weights: Weights) -> tuple[Matrix, Matrix]:
    """The weights of a row, and of its group, in the layer over both."""
    layer = weights["corrections.0.weight"]
    width = layer.shape[1] // 2
    return layer[:, :width], layer[:, width:]


def sigmoid(values: Matrix) -> Matrix:
    """`1 / (1 + exp(-x))`."""
    return 1.0 / (1.0 + np.exp(np.minimum(-values, _NO_OVERFLOW)))


def _silu(values: Matrix) -> Matrix:
    return values * sigmoid(values)
