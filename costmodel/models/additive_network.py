"""Model `additive-network`: sum over statements of times predicted by small networks.

The same sum as `additive`, of the same rows: in place of boosted trees, layers tell how long an
instance of each statement takes. The program as written goes through the same layers. Prediction
and adaptation are in NumPy; `additive_network_training` trains with torch.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...support.blas_threads import one_blas_thread
from ...support.extras import extra_for
from ..learning.examples import ProgramExamples
from .additive_sum import AdditiveNetworkOptions, AdditiveSum, Batch
from .learned_model import LearnedModel, TrainingOptions
from .model_options import read_options
from .statement_rows import ScheduleRows, StatementRows

SCORED_AT_ONCE = 512


class AdditiveNetwork(LearnedModel):
    """The model `additive-network`."""

    name: ClassVar[str] = "additive-network"
    sees_machine: ClassVar[bool] = True
    sees_fast_math: ClassVar[bool] = True
    trains_with: ClassVar[str | None] = "torch"

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        """Networks that have learned nothing yet; raises LearningError for unknown options."""
        self.options = read_options(AdditiveNetworkOptions, configuration, self.name)
        super().__init__(dataclasses.asdict(self.options))
        self.members = [AdditiveSum(self.options.width) for _ in range(self.options.members)]

    @property
    def featuriser(self) -> StatementRows:
        """Rows of statements, as those of `additive`."""
        return StatementRows()

    def score(self, features: Sequence[Any]) -> NDArray[np.float64]:
        """The predicted speed-ups: the mean of the logarithms of what the networks predict."""
        return np.exp(np.log(self.scores_of_members(features)).mean(axis=0))

    def scores_of_members(self, features: Sequence[Any]) -> NDArray[np.float64]:
        """The speed-ups that each member predicts: members x schedules."""
        with one_blas_thread():
            found = [
                [member.speedups(batch) for member in self.members] for batch in _batches(features)
            ]
        if not found:
            return np.zeros((len(self.members), 0))
        return np.concatenate(found, axis=1).astype(np.float64)

    def fit(
        self,
        training: Sequence[ProgramExamples],
        validation: Sequence[ProgramExamples],
        options: TrainingOptions,
    ) -> None:
        """Trains one network after the other; raises LearningError without programs."""
        with extra_for("training additive-network"):
            from .additive_network_training import train

        train(self.members, training, validation, self.options, options)

    def adapt(self, programs: Sequence[ProgramExamples], options: TrainingOptions) -> None:
        """Trains a little more, on labels of another machine; raises LearningError."""
        from .additive_network_adapting import adapt

        for number, member in enumerate(self.members):
            own = options.of_part(str(number), options.seed + number)
            adapt(member, programs, self.options, own)

    def state(self) -> Mapping[str, Any]:
        """The weights of each network."""
        return {str(number): member.state() for number, member in enumerate(self.members)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Takes over weights."""
        for number, member in enumerate(self.members):
            member.restore(state[str(number)])


def _batches(features: Sequence[ScheduleRows]) -> Iterator[Batch]:
    for start in range(0, len(features), SCORED_AT_ONCE):
        yield Batch.of(features[start : start + SCORED_AT_ONCE])
