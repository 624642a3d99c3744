"""Model `additive-network`: sum over statements of times predicted by small networks.

The same sum as `additive`, of the same rows: in place of boosted trees, layers tell how long an
instance of each statement takes. The program as written goes through the same layers.
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

from ..features.row_columns import NAMES, SLICES, column
from ..learning.examples import ProgramExamples
from .learned_model import TrainingOptions
from .network_model import NetworkModel
from .row_network import RowBatch, RowNetwork
from .statement_rows import ScheduleRows, StatementRows, with_shared_originals
from .tensors import one_thread, seeded
from .training import PairPool, Recipe, percentage_errors, train_network

_SECONDS = column("estimate.seconds")
_INSTANCES = column("work.instances")
_FORKS = column("threads.forks")

_INSTANCE_SECONDS = 1e-9
"""Where networks start from, whatever the statement; from the estimate they get less far.

What LLVM leaves out of repetitions is for them to find out, too, up to the largest correction.
"""

_MACHINE = range(SLICES["machine"].start, SLICES["machine"].stop)
"""Networks see of a machine what follows from it: lanes, what its caches hold.

Of the few that there are labels of, they would learn names, and say anything of others.
"""

_FORK_SECONDS = 5e-6
_LEAST_SECONDS = 1e-10

_FAR_OFF = 1.5
"""Errors of the logarithm beyond which a pair does not count more."""

_TOO_FAST = 6.4
"""The largest percentage, as a share, that counts: of what is predicted 7.4 times too fast."""

_ADAPTING = Recipe(epochs=4, learning_rate=3e-4, weight_decay=0.05, batch=256)


@dataclass(frozen=True)
class AdditiveNetworkOptions:
    """Ensemble size, layer width, and training options.

    Errors larger than `tolerance` (of the logarithm) count linearly. Schedules that are predicted e
    times too fast count `exp(caution)` times as much: MAPE is mostly about these. It is added
    itself, `percentages` times.
    """

    members: int = 1
    width: int = 192
    dropout: float = 0.2
    tolerance: float = 0.5
    caution: float = 0.8
    percentages: float = 0.3


@dataclass(frozen=True)
class Batch:
    """Feature rows of schedules, followed by those of their programs as written, each once.

    `originals` is the number of each schedule's program as written among all of them.
    """

    rows: RowBatch
    originals: Tensor


class AdditiveSum(nn.Module):
    """Feature rows of statements -> the speed-up of each schedule."""

    def __init__(self, options: AdditiveNetworkOptions) -> None:
        super().__init__()
        self.rows = RowNetwork(len(NAMES), _SECONDS, options.width, options.dropout)
        self.fork_seconds = nn.Parameter(torch.tensor(math.log(_FORK_SECONDS)))

    def forward(self, batch: Batch) -> Tensor:
        """The predicted speed-ups."""
        forks = torch.exp(self.fork_seconds) * batch.rows.rows[:, _FORKS]
        each = _INSTANCE_SECONDS * batch.rows.rows[:, _INSTANCES]
        times = batch.rows.sums(each * self.rows(batch.rows) + forks) + _LEAST_SECONDS
        return times[batch.originals] / times[: len(batch.originals)]


class AdditiveSums(nn.Module):
    """Ensemble of networks: mean of their predicted logarithms."""

    def __init__(self, options: AdditiveNetworkOptions) -> None:
        super().__init__()
        self.members: list[AdditiveSum] = [AdditiveSum(options) for _ in range(options.members)]
        # Where torch finds their weights: it does not look into plain lists.
        self.networks = nn.ModuleList(self.members)

    def forward(self, batch: Batch) -> Tensor:
        """The predicted speed-ups."""
        return torch.exp(torch.log(self.of_members(batch)).mean(0))

    def of_members(self, batch: Batch) -> Tensor:
        """What each network predicts: members x schedules."""
        return torch.stack([each(batch) for each in self.members])


@dataclass(frozen=True)
class LogarithmPool(PairPool):
    """Training pairs with errors of the logarithm."""

    tolerance: float = 1.0
    caution: float = 0.0
    percentages: float = 0.0

    def errors(self, predicted: Tensor, chosen: Sequence[int]) -> Tensor:
        """Huber's function of the error of the logarithm, and a part of the percentage."""
        index = list(chosen)
        measured = self.speedups[index].to(predicted.device)
        censored = self.censored[index].to(predicted.device)
        wrong = torch.log(predicted) - torch.log(measured)
        wrong = torch.where(censored, wrong.clamp(min=0), wrong)
        weights = torch.exp(self.caution * wrong.detach().clamp(0, _FAR_OFF))
        nothing = torch.zeros_like(wrong)
        errors = nn.functional.huber_loss(wrong, nothing, reduction="none", delta=self.tolerance)
        percentages = percentage_errors(predicted, measured, censored).clamp(max=_TOO_FAST)
        return weights * errors + self.percentages * percentages


class AdditiveNetwork(NetworkModel):
    """The model `additive-network`."""

    name = "additive-network"
    sees_machine: ClassVar[bool] = True
    sees_fast_math: ClassVar[bool] = True
    options_class = AdditiveNetworkOptions
    recipe: ClassVar[Recipe] = Recipe(
        epochs=20, learning_rate=3e-3, weight_decay=0.05, batch=512, patience=20
    )
    options: AdditiveNetworkOptions
    network: AdditiveSums

    @property
    def featuriser(self) -> StatementRows:
        """Rows of statements, as those of `additive`."""
        return StatementRows()

    def build(self) -> AdditiveSums:
        """Networks that take all instances to be alike."""
        return AdditiveSums(self.options)

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

    def scores_of_members(self, features: Sequence[Any]) -> NDArray[np.float64]:
        """The speed-ups that each member predicts: members x schedules."""
        with one_thread():
            return self.in_batches(self.network.of_members, features)

    def fit(
        self,
        training: Sequence[ProgramExamples],
        validation: Sequence[ProgramExamples],
        options: TrainingOptions,
    ) -> None:
        """Trains one network after the other; raises LearningError without programs."""
        pools = self._pool(training), self._pool(validation)
        rows = np.concatenate([each.scheduled for each in pools[0].features])
        with seeded(options.seed):
            self.network = self.build()
        members = self.network.members
        for number, member in enumerate(members):
            try:
                own = options.of_part(str(number), options.seed + number)
                with seeded(own.seed):
                    member.rows.standardise(rows, _MACHINE)
                    train_network(member, self.collate, *pools, self.recipe, own)
            except KeyboardInterrupt:
                for other in members[number + 1 :]:
                    other.load_state_dict(member.state_dict())
                raise

    def adapt(self, programs: Sequence[ProgramExamples], options: TrainingOptions) -> None:
        """Trains a little more, on labels of another machine; raises LearningError."""
        pool = self._pool(programs)
        for number, member in enumerate(self.network.members):
            own = options.of_part(str(number), options.seed + number)
            with seeded(own.seed):
                train_network(member, self.collate, pool, pool, _ADAPTING, own)

    def _pool(self, programs: Sequence[ProgramExamples]) -> LogarithmPool:
        pairs = PairPool.of(programs)
        return LogarithmPool(
            with_shared_originals(programs),
            pairs.speedups,
            pairs.censored,
            self.options.tolerance,
            self.options.caution,
            self.options.percentages,
        )
