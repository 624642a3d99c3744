"""Network over feature rows in torch, to be trained; `row_network` has its inference in NumPy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import linear

from .row_network import LARGEST, LARGEST_CORRECTION, LEAST_SECONDS, Matrix
from .tensors import from_array

_STILL = 0.01
"""The deviation of a column's logarithms, up to which they count as always the same."""


@dataclass(frozen=True)
class TensorRows:
    """Rows (number, features) of `count` groups behind each other, and the group of each."""

    rows: Tensor
    owner: Tensor
    count: int

    @classmethod
    def of(cls, groups: Sequence[Matrix], device: torch.device) -> TensorRows:
        """One group per matrix."""
        rows = np.concatenate(groups).astype(np.float32, copy=False)
        owner = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        return cls(from_array(rows).to(device), from_array(owner).to(device), len(groups))

    def sums(self, values: Tensor) -> Tensor:
        """The sum of some values (number, ...) for each group."""
        empty = values.new_zeros(self.count, *values.shape[1:])
        return empty.index_add(0, self.owner, values)


class TrainedRowNetwork(nn.Module):
    """Rows -> a factor for each, 1 before it has learned; column `seconds` holds small numbers."""

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
        values = _logarithms(from_array(rows), self.seconds)
        deviation = values.std(0)
        deviation[deviation < _STILL] = torch.inf
        deviation[list(ignored)] = torch.inf
        self.mean.copy_(values.mean(0))
        self.deviation.copy_(deviation + 1e-3)

    def forward(self, batch: TensorRows) -> Tensor:
        """The factors (number,)."""
        values = (_logarithms(batch.rows, self.seconds) - self.mean) / self.deviation
        found = self.statements(values.clamp(-LARGEST, LARGEST))
        layer = cast("nn.Linear", self.corrections[0])
        width = found.shape[1]
        of_row, of_group = layer.weight[:, :width], layer.weight[:, width:]
        number = batch.sums(torch.ones_like(found[:, 0])).clamp(min=1.0)
        together = batch.sums(found) / number[:, None]
        # The same layer on both beside each other, but once per group on what is around.
        own = linear(found, of_row, layer.bias)
        values = own + linear(together, of_group).index_select(0, batch.owner)
        corrections = self.corrections[1:](values)[:, 0]
        return torch.exp(corrections.clamp(-LARGEST_CORRECTION, LARGEST_CORRECTION))


def _logarithms(rows: Tensor, seconds: int) -> Tensor:
    values = torch.sign(rows) * torch.log1p(rows.abs())
    values[:, seconds] = torch.log(rows[:, seconds].clamp(min=LEAST_SECONDS))
    return values


def _layer(inputs: int, outputs: int, dropout: float) -> tuple[nn.Module, ...]:
    return nn.Linear(inputs, outputs), nn.SiLU(), nn.Dropout(dropout)
