"""Model `interchange-network` (ours): networks that rank corrected estimates.

The rows and the two ends are those of `trees`: the softmax of the logarithms of the times is to
give the fastest interchange, and the times are to be right up to a factor that all interchanges of
a program have in common. Several networks are averaged.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ...learning.errors import LearningError
from ...learning.examples import ProgramExamples
from ...models.learned_model import TrainingOptions
from ...models.model_options import read_options
from ...models.row_network import RowBatch, RowNetwork
from ...models.tensors import from_array, one_thread, seeded
from ...models.training import Recipe, train_network
from .accuracy import CUT_OFF, times_of
from .classes import CLASSES, SHOTS
from .interchange_model import InterchangeModel
from .nest_rows import NAMES, SECONDS, NestRows, RowDescription

Rows = NDArray[np.float32]

_MACHINE = [n for n, name in enumerate(NAMES) if name.startswith("general.machine.")]
"""See `models.additive_network`."""

_LEAST_SECONDS = 1e-12
_TOLERANCE = 0.5
"""Errors of the logarithm beyond which a time counts linearly."""


@dataclass(frozen=True)
class NetworkOptions:
    """Ensemble size (`members`), layer width, and training objective.

    The softmax is of `sharpness` times the logarithms, the targets of logarithms over `noise`;
    `magnitude` is how much the times themselves count.
    """

    members: int = 3
    width: int = 192
    dropout: float = 0.3
    sharpness: float = 3.0
    noise: float = 0.05
    magnitude: float = 1.0


class NestTimes(nn.Module):
    """Rows of interchanges -> the logarithm of the time of each."""

    def __init__(self, options: NetworkOptions) -> None:
        super().__init__()
        self.rows = RowNetwork(len(NAMES), SECONDS, options.width, options.dropout)

    def forward(self, batch: RowBatch) -> Tensor:
        """Logarithms of seconds (interchanges,)."""
        estimates = batch.rows[:, SECONDS].clamp(min=_LEAST_SECONDS)
        return torch.log(batch.sums(estimates * self.rows(batch)) + _LEAST_SECONDS)


def collate(nests: Sequence[Rows], device: torch.device) -> RowBatch:
    """The interchanges (interchanges, statements, features) of nests behind each other."""
    return RowBatch.of([rows for nest in nests for rows in nest], device)


@dataclass(frozen=True)
class NestPool:
    """Nests with the rows and relative times of their measured interchanges.

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

    def errors(self, predicted: Tensor, chosen: Sequence[int]) -> Tensor:
        """Of each nest the cross-entropy, and Huber's function of what is wrong with the times."""
        errors: list[Tensor] = []
        start = 0
        for number in chosen:
            end = start + len(self.features[number])
            errors.append(self._error(predicted[start:end], number))
            start = end
        return torch.stack(errors)

    def _error(self, times: Tensor, number: int) -> Tensor:
        options = self.options
        slower = self.slower[number].to(times.device)
        certain = ~self.censored[number].to(times.device)
        targets = torch.exp(-slower / options.noise) * certain
        chances = torch.log_softmax(-options.sharpness * times, 0)
        wrong = times - slower
        wrong = wrong - wrong[certain].mean()
        # What was cut off is only known to be slower than it seems.
        wrong = torch.where(certain, wrong, wrong.clamp(max=0))
        far = nn.functional.huber_loss(wrong, torch.zeros_like(wrong), delta=_TOLERANCE)
        return options.magnitude * far - (targets / targets.sum() * chances).sum()


class InterchangeNetwork(InterchangeModel):
    """The model `interchange-network`."""

    name: ClassVar[str] = "interchange-network"
    trained: ClassVar[Path | None] = Path(__file__).parent / "weights" / "interchange-network.pt"
    sees_machine: ClassVar[bool] = True
    sees_fast_math: ClassVar[bool] = True
    recipe: ClassVar[Recipe] = Recipe(
        epochs=20, learning_rate=3e-3, weight_decay=0.05, batch=64, patience=20
    )

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        """Networks that correct nothing yet; raises LearningError for unknown options."""
        self.options = read_options(NetworkOptions, configuration, self.name)
        super().__init__(dataclasses.asdict(self.options))
        self.networks = [NestTimes(self.options) for _ in range(self.options.members)]

    @property
    def description(self) -> RowDescription:
        """Rows of all interchanges of a nest."""
        return RowDescription()

    def fit(
        self,
        training: Sequence[ProgramExamples],
        validation: Sequence[ProgramExamples],
        options: TrainingOptions,
    ) -> None:
        """Trains one network after the other."""
        pools = NestPool.of(training, self.options), NestPool.of(validation, self.options)
        flat = np.concatenate([nest.reshape(-1, len(NAMES)) for nest in pools[0].features])
        for number in range(len(self.networks)):
            own = options.of_part(str(number), options.seed + number)
            with seeded(own.seed):
                network = self.networks[number] = NestTimes(self.options)
                network.rows.standardise(flat, _MACHINE)
                train_network(network, collate, *pools, self.recipe, own)

    def ratings(self, nests: Sequence[Any]) -> NDArray[np.float64]:
        """Logarithms of predicted rates, the same for every shot; -inf where there is no class."""
        result = np.full((len(nests), SHOTS, len(CLASSES)), -np.inf)
        device = next(self.networks[0].parameters()).device
        batch = collate([each.rows for each in nests], device)
        with one_thread(), torch.inference_mode():
            found = torch.stack([network.eval()(batch) for network in self.networks])
        logarithms = found.mean(0).cpu().numpy()
        start = 0
        for position, each in enumerate(nests):
            own = logarithms[start : start + len(each.classes)]
            result[position, :, list(each.classes)] = -own[:, None]
            start += len(each.classes)
        return result

    def state(self) -> Mapping[str, Any]:
        """The weights."""
        return {
            str(number): {name: value.cpu() for name, value in network.state_dict().items()}
            for number, network in enumerate(self.networks)
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Takes over weights."""
        for number, network in enumerate(self.networks):
            network.load_state_dict(state[str(number)])
