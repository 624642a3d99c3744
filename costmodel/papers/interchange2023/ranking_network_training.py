"""Training of `interchange-network` with torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from ...learning.errors import LearningError
from ...learning.examples import ProgramExamples
from ...models.learned_model import TrainingOptions
from ...models.row_network import RowNetwork
from ...models.row_network_training import TensorRows, TrainedRowNetwork
from ...models.tensors import arrays_of, from_array, seeded
from ...models.training import Recipe, train_network
from ...models.training_batches import Shuffled
from .accuracy import CUT_OFF, times_of
from .nest_rows import NAMES, SECONDS, NestRows
from .nest_times import LEAST_SECONDS, NetworkOptions, Rows

RECIPE = Recipe(epochs=20, learning_rate=3e-3, weight_decay=0.05, batch=64, patience=20)

_MACHINE = [n for n, name in enumerate(NAMES) if name.startswith("general.machine.")]
"""See `models.additive_network_training`."""

_TOLERANCE = 0.5
"""Errors of the logarithm beyond which a time counts linearly."""


class NestTimes(nn.Module):
    """Rows of interchanges -> the logarithm of the time of each."""

    def __init__(self, options: NetworkOptions) -> None:
        super().__init__()
        self.rows = TrainedRowNetwork(len(NAMES), SECONDS, options.width, options.dropout)

    def forward(self, batch: TensorRows) -> Tensor:
        """Logarithms of seconds (interchanges,)."""
        estimates = batch.rows[:, SECONDS].clamp(min=LEAST_SECONDS)
        return torch.log(batch.sums(estimates * self.rows(batch)) + LEAST_SECONDS)


def collate(nests: Sequence[Rows], device: torch.device) -> TensorRows:
    """The interchanges (interchanges, statements, features) of nests behind each other."""
    return TensorRows.of([rows for nest in nests for rows in nest], device)


@dataclass(frozen=True)
class NestPool(Shuffled):
    """Nests with the rows of their measured interchanges, and how much slower each is.

    `slower` is the logarithm of the time over that of the best one, at most that of what is cut
    off, which is `censored`.
    """

    features: list[Rows]
    slower: list[Tensor]
    censored: list[Tensor]
    options: NetworkOptions

    @classmethod
    def of(cls, programs: Sequence[ProgramExamples], options: NetworkOptions) -> NestPool:
        """The nests of some programs; raises LearningError when there are none."""
        if not programs:
            raise LearningError("there is nothing to learn from: too few programs")
        pool = cls([], [], [], options)
        for program in programs:
            nest: NestRows = program.features[0].nest
            numbers = [each.number for each in program.features]
            times = times_of(program)
            slower = times[numbers] / times.min()
            pool.features.append(nest.rows[[nest.classes.index(number) for number in numbers]])
            pool.slower.append(from_array(np.log(np.minimum(slower, CUT_OFF))).float())
            pool.censored.append(from_array(~np.isfinite(slower)))
        return pool

    def targets(self, chosen: Sequence[int], device: torch.device) -> list[tuple[Tensor, Tensor]]:
        """Of each nest how much slower its interchanges are, and which are certain."""
        return [
            (self.slower[number].to(device), ~self.censored[number].to(device)) for number in chosen
        ]

    def errors(self, predicted: Tensor, targets: Sequence[tuple[Tensor, Tensor]]) -> Tensor:
        """Of each nest the cross-entropy, and Huber's function of what is wrong with the times."""
        errors: list[Tensor] = []
        start = 0
        for slower, certain in targets:
            end = start + len(slower)
            errors.append(self._error(predicted[start:end], slower, certain))
            start = end
        return torch.stack(errors)

    def _error(self, times: Tensor, slower: Tensor, certain: Tensor) -> Tensor:
        options = self.options
        targets = torch.exp(-slower / options.noise) * certain
        chances = torch.log_softmax(-options.sharpness * times, 0)
        wrong = times - slower
        wrong = wrong - wrong[certain].mean()
        # What was cut off is only known to be slower than it seems.
        wrong = torch.where(certain, wrong, wrong.clamp(max=0))
        far = nn.functional.huber_loss(wrong, torch.zeros_like(wrong), delta=_TOLERANCE)
        return options.magnitude * far - (targets / targets.sum() * chances).sum()


def train(
    networks: Sequence[RowNetwork],
    training: Sequence[ProgramExamples],
    validation: Sequence[ProgramExamples],
    options: NetworkOptions,
    how: TrainingOptions,
) -> None:
    """Trains one network after the other; raises LearningError without programs."""
    pools = NestPool.of(training, options), NestPool.of(validation, options)
    flat = np.concatenate([nest.reshape(-1, len(NAMES)) for nest in pools[0].features])
    for number, network in enumerate(networks):
        own = how.of_part(str(number), how.seed + number)
        with seeded(own.seed):
            trained = NestTimes(options)
            trained.rows.standardise(flat, _MACHINE)
            try:
                train_network(trained, collate, *pools, RECIPE, own)
            finally:
                network.restore(arrays_of(trained.rows))
