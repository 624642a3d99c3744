"""Training of `additive-network` with torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..features.row_columns import NAMES, SLICES
from ..learning.examples import ProgramExamples
from .additive_network_adapting import FAR_OFF, TOO_FAST
from .additive_sum import (
    FORK_SECONDS,
    FORKS,
    INSTANCE_SECONDS,
    INSTANCES,
    LEAST_SECONDS,
    SECONDS,
    AdditiveNetworkOptions,
    AdditiveSum,
    with_originals,
)
from .learned_model import TrainingOptions
from .row_network_training import TensorRows, TrainedRowNetwork
from .statement_rows import with_shared_originals
from .tensors import arrays_of, from_array, seeded, shuffled
from .training import PairPool, Recipe, percentage_errors, train_network

RECIPE = Recipe(epochs=20, learning_rate=3e-3, weight_decay=0.05, batch=512, patience=20)

MACHINE = range(SLICES["machine"].start, SLICES["machine"].stop)
"""Networks see of a machine what follows from it: lanes, what its caches hold.

Of the few that there are labels of, they would learn names, and say anything of others.
"""


@dataclass(frozen=True)
class TensorBatch:
    """`additive_network.Batch` in torch."""

    rows: TensorRows
    originals: Tensor


class TrainedSum(nn.Module):
    """Rows of statements -> the speed-up of each schedule."""

    def __init__(self, options: AdditiveNetworkOptions) -> None:
        super().__init__()
        self.rows = TrainedRowNetwork(len(NAMES), SECONDS, options.width, options.dropout)
        self.fork_seconds = nn.Parameter(torch.tensor(log(FORK_SECONDS)))

    def forward(self, batch: TensorBatch) -> Tensor:
        """The predicted speed-ups."""
        forks = torch.exp(self.fork_seconds) * batch.rows.rows[:, FORKS]
        each = INSTANCE_SECONDS * batch.rows.rows[:, INSTANCES]
        times = batch.rows.sums(each * self.rows(batch.rows) + forks) + LEAST_SECONDS
        return times.index_select(0, batch.originals) / times[: len(batch.originals)]


@dataclass(frozen=True)
class Targets:
    """Measured speed-ups, which are censored, and the number of each pair's program."""

    measured: Tensor
    censored: Tensor
    owners: Tensor
    programs: int


@dataclass(frozen=True)
class LogarithmPool(PairPool):
    """Pairs whose errors are those of the logarithm, and of the ranking within programs.

    `owners` is the number of each pair's program; pairs of one lie behind each other.
    """

    owners: NDArray[np.int64]
    options: AdditiveNetworkOptions

    @classmethod
    def with_options(
        cls, programs: Sequence[ProgramExamples], options: AdditiveNetworkOptions
    ) -> LogarithmPool:
        """The pairs of some programs; raises LearningError when there are none."""
        pairs = PairPool.of(programs)
        counts = [len(program.features) for program in programs]
        owners = np.repeat(np.arange(len(programs)), counts)
        features = with_shared_originals(programs)
        return cls(features, pairs.speedups, pairs.censored, owners, options)

    def order(self, random: torch.Generator) -> Sequence[int]:
        """Shuffled; where rankings count, programs are, and their pairs stay together."""
        if not self.options.ranking:
            return super().order(random)
        ends = np.searchsorted(self.owners, np.arange(self.owners[-1] + 1), "right")
        starts = [0, *ends[:-1]]
        programs = shuffled(len(ends), random)
        return [pair for each in programs for pair in range(starts[each], ends[each])]

    def targets(self, chosen: Sequence[int], device: torch.device) -> Targets:
        """Labels, and programs numbered within the batch."""
        measured, censored = super().targets(chosen, device)
        programs, owners = np.unique(self.owners[list(chosen)], return_inverse=True)
        return Targets(measured, censored, from_array(owners).to(device), len(programs))

    def errors(self, predicted: Tensor, targets: Targets) -> Tensor:
        """Huber's function of the error of the logarithm, a part of the percentage, the ranking."""
        options = self.options
        measured, censored = targets.measured, targets.censored
        wrong = torch.log(predicted) - torch.log(measured)
        wrong = torch.where(censored, wrong.clamp(min=0), wrong)
        weights = torch.exp(options.caution * wrong.detach().clamp(0, FAR_OFF))
        nothing = torch.zeros_like(wrong)
        errors = nn.functional.huber_loss(wrong, nothing, reduction="none", delta=options.tolerance)
        percentages = percentage_errors(predicted, measured, censored).clamp(max=TOO_FAST)
        found = weights * errors + options.percentages * percentages
        if not options.ranking:
            return found
        likely = torch.exp(_log_softmax(torch.log(measured) / options.sharpness, targets))
        predictions = _log_softmax(torch.log(predicted) / options.sharpness, targets)
        return found - options.ranking * likely * predictions


def _log_softmax(values: Tensor, targets: Targets) -> Tensor:
    """The logarithm of the softmax over the pairs of each program."""
    owners = targets.owners
    lowest = values.new_full((targets.programs,), -torch.inf)
    largest = lowest.scatter_reduce(0, owners, values.detach(), "amax").index_select(0, owners)
    shifted = values - largest
    sums = values.new_zeros(targets.programs).index_add(0, owners, torch.exp(shifted))
    return shifted - torch.log(sums).index_select(0, owners)


def collate(features: Sequence[Any], device: torch.device) -> TensorBatch:
    """Rows of the schedules, then those of each program as written, once."""
    groups, originals = with_originals(features)
    return TensorBatch(TensorRows.of(groups, device), torch.tensor(originals, device=device))


def train(
    members: Sequence[AdditiveSum],
    training: Sequence[ProgramExamples],
    validation: Sequence[ProgramExamples],
    options: AdditiveNetworkOptions,
    how: TrainingOptions,
) -> None:
    """Trains one network after the other; raises LearningError without programs."""
    pools = [LogarithmPool.with_options(each, options) for each in (training, validation)]
    rows = np.concatenate([each.scheduled for each in pools[0].features])
    with seeded(how.seed):
        networks = [TrainedSum(options) for _ in members]
    for number, network in enumerate(networks):
        own = how.of_part(str(number), how.seed + number)
        try:
            with seeded(own.seed):
                network.rows.standardise(rows, MACHINE)
                train_network(network, collate, pools[0], pools[1], RECIPE, own)
        except KeyboardInterrupt:
            for member in members[number:]:
                member.restore(arrays_of(network))
            raise
        members[number].restore(arrays_of(network))
