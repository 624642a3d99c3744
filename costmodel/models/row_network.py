"""Network over feature rows: a correction factor for each.

The statements that stand together are seen as well: as the mean of what the first layers make of
them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import linear

from .tensors import from_array
from .unique_rows import unique_rows

_LARGEST = 6.0
"""Standard deviations from the mean, beyond which all values are alike."""

_STILL = 0.01
"""The deviation of a column's logarithms, up to which they count as always the same."""

_LARGEST_CORRECTION = 8.0
_LEAST_SECONDS = 1e-12


@dataclass(frozen=True)
class RowBatch:
    """Concatenated rows (number, features) of `count` groups, with the group of each row.

    `unique` are the rows that differ from all before them, `inverse` which of these each row is
    like. `known` is what `logarithms` has found: several networks see the same rows.
    """

    rows: Tensor
    owner: Tensor
    count: int
    unique: Tensor
    inverse: Tensor
    known: dict[int, Tensor] = field(default_factory=dict[int, Tensor], compare=False)

    @classmethod
    def of(cls, groups: list[NDArray[np.float32]], device: torch.device) -> RowBatch:
        """One group per matrix."""
        rows = np.concatenate(groups).astype(np.float32, copy=False)
        owner = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        unique, inverse = unique_rows(rows)
        return cls(
            from_array(rows).to(device),
            from_array(owner).to(device),
            len(groups),
            from_array(unique).to(device),
            from_array(inverse).to(device),
        )

    def logarithms(self, seconds: int) -> Tensor:
        """`logarithms` of the different rows."""
        if seconds not in self.known:
            self.known[seconds] = logarithms(self.rows[self.unique], seconds)
        return self.known[seconds]

    def sums(self, values: Tensor) -> Tensor:
        """The sum of some values (number, ...) for each group."""
        empty = values.new_zeros(self.count, *values.shape[1:])
        return empty.index_add(0, self.owner, values)


class RowNetwork(nn.Module):
    """Rows -> a factor for each, initially 1; column `seconds` holds small numbers."""

    mean: Tensor
    deviation: Tensor

    def __init__(self, inputs: int, seconds: int, width: int, dropout: float) -> None:
        super().__init__()
        self.seconds = seconds
        self.register_buffer("mean", torch.zeros(inputs))
        self.register_buffer("deviation", torch.ones(inputs))
        self.statements = nn.Sequential(
            *_layer(inputs, width, dropout), *_layer(width, width, dropout)
        )
        output = nn.Linear(width, 1)
        nn.init.zeros_(output.weight)
        nn.init.zeros_(output.bias)
        self.corrections = nn.Sequential(*_layer(2 * width, width, dropout), output)

    def standardise(self, rows: NDArray[np.float32], ignored: Iterable[int] = ()) -> None:
        """Takes over the mean and the deviation of each column; some are `ignored`.

        So is a column that is the same wherever there is something to learn from: where it is
        another one, weights that have learned nothing would decide.
        """
        values = logarithms(from_array(rows), self.seconds)
        deviation = values.std(0)
        deviation[deviation < _STILL] = torch.inf
        deviation[list(ignored)] = torch.inf
        self.mean.copy_(values.mean(0))
        self.deviation.copy_(deviation + 1e-3)

    def forward(self, batch: RowBatch) -> Tensor:
        """The factors (number,)."""
        values = (batch.logarithms(self.seconds) - self.mean) / self.deviation
        if self.training:  # dropout makes rows differ that are alike
            values = values[batch.inverse]
        found = self.statements(values.clamp(-_LARGEST, _LARGEST))
        layer = cast("nn.Linear", self.corrections[0])
        width = found.shape[1]
        of_row, of_group = layer.weight[:, :width], layer.weight[:, width:]
        own = linear(found, of_row, layer.bias)
        if not self.training:
            found, own = found[batch.inverse], own[batch.inverse]
        number = batch.sums(torch.ones_like(found[:, 0])).clamp(min=1.0)
        together = batch.sums(found) / number[:, None]
        # The same layer on both beside each other, but once per group on what is around.
        values = own + linear(together, of_group)[batch.owner]
        corrections = self.corrections[1:](values)[:, 0]
        return torch.exp(corrections.clamp(-_LARGEST_CORRECTION, _LARGEST_CORRECTION))


def logarithms(rows: Tensor, seconds: int) -> Tensor:
    """Features span orders of magnitude; seconds are less than one, and have theirs as is."""
    values = torch.sign(rows) * torch.log1p(rows.abs())
    values[:, seconds] = torch.log(rows[:, seconds].clamp(min=_LEAST_SECONDS))
    return values


def _layer(inputs: int, outputs: int, dropout: float) -> tuple[nn.Module, ...]:
    return nn.Linear(inputs, outputs), nn.SiLU(), nn.Dropout(dropout)
