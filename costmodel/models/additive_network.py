"""A cost model that adds up the times of statements, corrected by a small network.

The same sum as `additive`, of the same rows: in place of boosted trees, layers tell by which factor
the estimate of each statement's time is wrong. The other statements of the program are seen as the
mean of what the first layers make of them. The program as written goes through the same layers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..features.schema import NAMES, column
from ..learning.examples import ProgramExamples
from .additive import ScheduleRows, StatementRows, with_shared_originals
from .model import TrainingOptions
from .network import NetworkModel
from .tensors import from_array, seeded
from .training import PairPool, Recipe, train_network

_SECONDS = column("estimate.seconds")
_FORKS = column("threads.forks")

_FORK_SECONDS = 5e-6
_LARGEST = 6.0
"""Standard deviations from the mean, beyond which all values are alike."""

_LARGEST_CORRECTION = 8.0
_LEAST_SECONDS = 1e-10

_FAR_OFF = 1.5
"""Errors of the logarithm beyond which a pair does not count more."""

_ADAPTING = Recipe(epochs=4, learning_rate=3e-4, weight_decay=0.05, batch=256)


@dataclass(frozen=True)
class AdditiveNetworkOptions:
    """The width of all layers, and how the network is trained.

    Errors larger than `tolerance` (of the logarithm) count linearly. Schedules that are predicted e
    times too fast count `exp(caution)` times as much: MAPE is mostly about these.
    """

    width: int = 192
    dropout: float = 0.2
    tolerance: float = 0.5
    caution: float = 0.8


@dataclass(frozen=True)
class Batch:
    """Rows of many schedules behind each other, and of their programs as written after these.

    `owner` is the schedule that a row is of, `originals` the number of each schedule's program as
    written; there are `count` of both together.
    """

    rows: Tensor
    owner: Tensor
    originals: Tensor
    count: int


class RowNetwork(nn.Module):
    """Rows of statements -> the speed-up of each schedule."""

    mean: Tensor
    deviation: Tensor

    def __init__(self, options: AdditiveNetworkOptions) -> None:
        super().__init__()
        inputs, width = len(NAMES), options.width
        self.register_buffer("mean", torch.zeros(inputs))
        self.register_buffer("deviation", torch.ones(inputs))
        self.statements = nn.Sequential(
            *_layer(inputs, width, options.dropout), *_layer(width, width, options.dropout)
        )
        output = nn.Linear(width, 1)
        nn.init.zeros_(output.weight)
        nn.init.zeros_(output.bias)
        self.corrections = nn.Sequential(*_layer(2 * width, width, options.dropout), output)
        self.fork_seconds = nn.Parameter(torch.tensor(math.log(_FORK_SECONDS)))

    def standardise(self, rows: NDArray[np.float32]) -> None:
        """Takes over the mean and the deviation of each column."""
        values = _logarithms(from_array(rows))
        self.mean.copy_(values.mean(0))
        self.deviation.copy_(values.std(0) + 1e-3)

    def forward(self, batch: Batch) -> Tensor:
        """The predicted speed-ups."""
        values = (_logarithms(batch.rows) - self.mean) / self.deviation
        found = self.statements(values.clamp(-_LARGEST, _LARGEST))
        number = found.new_zeros(batch.count).index_add(0, batch.owner, found.new_ones(len(found)))
        total = found.new_zeros(batch.count, found.shape[1]).index_add(0, batch.owner, found)
        around = (total / number.clamp(min=1.0)[:, None])[batch.owner]
        correction = self.corrections(torch.cat([found, around], 1))[:, 0]
        correction = correction.clamp(-_LARGEST_CORRECTION, _LARGEST_CORRECTION)
        seconds = batch.rows[:, _SECONDS] * torch.exp(correction)
        seconds = seconds + torch.exp(self.fork_seconds) * batch.rows[:, _FORKS]
        times = seconds.new_full((batch.count,), _LEAST_SECONDS).index_add(0, batch.owner, seconds)
        return times[batch.originals] / times[: len(batch.originals)]


def _layer(inputs: int, outputs: int, dropout: float) -> tuple[nn.Module, ...]:
    return nn.Linear(inputs, outputs), nn.SiLU(), nn.Dropout(dropout)


def _logarithms(rows: Tensor) -> Tensor:
    """Features span orders of magnitude; seconds are less than one, and have theirs as they are."""
    values = torch.sign(rows) * torch.log1p(rows.abs())
    values[:, _SECONDS] = torch.log(rows[:, _SECONDS].clamp(min=1e-12))
    return values


@dataclass(frozen=True)
class LogarithmPool(PairPool):
    """Pairs whose errors are those of the logarithm."""

    tolerance: float = 1.0
    caution: float = 0.0

    def errors(self, predicted: Tensor, chosen: Sequence[int]) -> Tensor:
        """Huber's function of the error of the logarithm, more for what is predicted too fast."""
        index = list(chosen)
        measured = self.speedups[index].to(predicted.device)
        censored = self.censored[index].to(predicted.device)
        wrong = torch.log(predicted) - torch.log(measured)
        wrong = torch.where(censored, wrong.clamp(min=0), wrong)
        weights = torch.exp(self.caution * wrong.detach().clamp(0, _FAR_OFF))
        nothing = torch.zeros_like(wrong)
        return weights * nn.functional.huber_loss(
            wrong, nothing, reduction="none", delta=self.tolerance
        )


class AdditiveNetwork(NetworkModel):
    """The model; see above."""

    name = "additive-network"
    sees_machine: ClassVar[bool] = True
    options_class = AdditiveNetworkOptions
    recipe: ClassVar[Recipe] = Recipe(
        epochs=12, learning_rate=3e-3, weight_decay=0.05, batch=256, patience=12
    )
    options: AdditiveNetworkOptions

    @property
    def featuriser(self) -> StatementRows:
        """Rows of statements, as those of `additive`."""
        return StatementRows()

    def build(self) -> RowNetwork:
        """A network that corrects nothing yet."""
        return RowNetwork(self.options)

    def collate(self, features: Sequence[Any], device: torch.device) -> Batch:
        """Rows of the schedules, then those of each program as written, once."""
        schedules: Sequence[ScheduleRows] = features
        numbers: dict[int, int] = {}
        written: list[NDArray[np.float32]] = []
        originals: list[int] = []
        for each in schedules:
            key = id(each.original)
            if key not in numbers:
                numbers[key] = len(schedules) + len(written)
                written.append(each.original)
            originals.append(numbers[key])
        parts = [*(each.scheduled for each in schedules), *written]
        rows = np.concatenate(parts).astype(np.float32, copy=False).reshape(-1, len(NAMES))
        owner = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        return Batch(
            from_array(rows).to(device),
            from_array(owner).to(device),
            torch.tensor(originals, device=device),
            len(parts),
        )

    def fit(
        self,
        training: Sequence[ProgramExamples],
        validation: Sequence[ProgramExamples],
        options: TrainingOptions,
    ) -> None:
        """Trains; raises LearningError without programs."""
        with seeded(options.seed):
            self.network = self.build()
            pools = self._pool(training), self._pool(validation)
            self.network.standardise(
                np.concatenate([each.scheduled for each in pools[0].features], dtype=np.float32)
            )
            train_network(self.network, self.collate, *pools, self.recipe, options)

    def adapt(self, programs: Sequence[ProgramExamples], options: TrainingOptions) -> None:
        """Trains a little more, on labels of another machine; raises LearningError."""
        pool = self._pool(programs)
        with seeded(options.seed):
            train_network(self.network, self.collate, pool, pool, _ADAPTING, options)

    def _pool(self, programs: Sequence[ProgramExamples]) -> LogarithmPool:
        pairs = PairPool.of(programs)
        return LogarithmPool(
            with_shared_originals(programs),
            pairs.speedups,
            pairs.censored,
            self.options.tolerance,
            self.options.caution,
        )
