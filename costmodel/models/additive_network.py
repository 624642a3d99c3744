"""A cost model that adds up the times of statements, corrected by a small network.

The same sum as `additive`, of the same rows: in place of boosted trees, layers tell by which factor
the estimate of each statement's time is wrong. The program as written goes through the same layers.
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
from .row_network import RowBatch, RowNetwork
from .tensors import one_thread, seeded
from .training import PairPool, Recipe, train_network

_SECONDS = column("estimate.seconds")
_FORKS = column("threads.forks")

_FORK_SECONDS = 5e-6
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
    """Rows of schedules, and of their programs as written after these, each once.

    `originals` is the number of each schedule's program as written among all of them.
    """

    rows: RowBatch
    originals: Tensor


class AdditiveSum(nn.Module):
    """Rows of statements -> the speed-up of each schedule."""

    def __init__(self, options: AdditiveNetworkOptions) -> None:
        super().__init__()
        self.rows = RowNetwork(len(NAMES), _SECONDS, options.width, options.dropout)
        self.fork_seconds = nn.Parameter(torch.tensor(math.log(_FORK_SECONDS)))

    def forward(self, batch: Batch) -> Tensor:
        """The predicted speed-ups."""
        forks = torch.exp(self.fork_seconds) * batch.rows.rows[:, _FORKS]
        times = batch.rows.sums(self.rows(batch.rows) + forks) + _LEAST_SECONDS
        return times[batch.originals] / times[: len(batch.originals)]


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

    def build(self) -> AdditiveSum:
        """A network that corrects nothing yet."""
        return AdditiveSum(self.options)

    def collate(self, features: Sequence[Any], device: torch.device) -> Batch:
        """Rows of the schedules, then those of each program as written, once."""
        schedules: Sequence[ScheduleRows] = features
        numbers: dict[int, int] = {}
        groups: list[NDArray[np.float32]] = [each.scheduled for each in schedules]
        originals: list[int] = []
        for each in schedules:
            key = id(each.original)
            if key not in numbers:
                numbers[key] = len(groups)
                groups.append(each.original)
            originals.append(numbers[key])
        return Batch(RowBatch.of(groups, device), torch.tensor(originals, device=device))

    def score(self, features: Sequence[Any]) -> NDArray[np.float64]:
        """The predicted speed-ups."""
        with one_thread():
            return super().score(features)

    def fit(
        self,
        training: Sequence[ProgramExamples],
        validation: Sequence[ProgramExamples],
        options: TrainingOptions,
    ) -> None:
        """Trains; raises LearningError without programs."""
        with seeded(options.seed):
            network = self.build()
            pools = self._pool(training), self._pool(validation)
            network.rows.standardise(np.concatenate([each.scheduled for each in pools[0].features]))
            self.network = network
            train_network(network, self.collate, *pools, self.recipe, options)

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
