"""Model `ensemble`: mean of boosted trees and networks over the same rows.

Both add up the times of statements and are wrong in different places. The mean is the geometric
one, in which every forest and every network counts once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...passes.estimate.scheduling_context import SchedulingContext
from ...passes.schedules.schedule import Schedule
from ..learning.examples import ProgramExamples
from .additive import Additive
from .additive_network import AdditiveNetwork
from .learned_model import LOWEST, LearnedModel, TrainingOptions
from .model_options import read_options
from .statement_rows import StatementRows


@dataclass(frozen=True)
class EnsembleOptions:
    """Numbers of forests and networks; `share` is the weight of `additive`."""

    forests: int = 1
    networks: int = 3
    share: float = 0.2


class Ensemble(LearnedModel):
    """The model `ensemble`."""

    name: ClassVar[str] = "ensemble"
    sees_machine: ClassVar[bool] = True
    sees_fast_math: ClassVar[bool] = True
    trains_with: ClassVar[str | None] = "torch"

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        """Members that have learned nothing yet; raises LearningError for unknown options."""
        self.options = read_options(EnsembleOptions, configuration, self.name)
        super().__init__(dataclasses.asdict(self.options))
        self.trees = Additive({"members": self.options.forests, "share": self.options.share})
        self.networks = AdditiveNetwork({"members": self.options.networks})

    @property
    def featuriser(self) -> StatementRows:
        """What makes the features of all members."""
        return self.trees.featuriser

    def fit(
        self,
        training: Sequence[ProgramExamples],
        validation: Sequence[ProgramExamples],
        options: TrainingOptions,
    ) -> None:
        """Trains one member after the other; epochs and learning rate are those of the networks."""
        trees = dataclasses.replace(options, epochs=None, learning_rate=None)
        self.networks.fit(training, validation, options.of_part("networks", options.seed))
        self.trees.fit(training, validation, trees.of_part("trees", options.seed))

    def adapt(self, programs: Sequence[ProgramExamples], options: TrainingOptions) -> None:
        """Adapts every member; raises LearningError."""
        self.networks.adapt(programs, options)
        self.trees.adapt(programs, options)

    def score(self, features: Sequence[Any]) -> NDArray[np.float64]:
        """The predicted speed-ups."""
        trees, *networks = np.log(self._scores(features))
        forests = self.options.forests
        return np.exp((forests * trees + sum(networks)) / (forests + len(networks)))

    def opinions(
        self, context: SchedulingContext, schedules: Sequence[Schedule]
    ) -> Sequence[Sequence[float]]:
        """The speed-ups that the trees and each network predict; raises Unsupported."""
        return self._scores(self.featuriser.featurise(context, schedules)).tolist()

    def _scores(self, features: Sequence[Any]) -> NDArray[np.float64]:
        """What the trees predict, then what each network does: (members, schedules)."""
        found = [self.trees.score(features), *self.networks.scores_of_members(features)]
        return np.maximum(found, LOWEST)

    def state(self) -> Mapping[str, Any]:
        """What the members have learned."""
        return {"trees": dict(self.trees.state()), "networks": dict(self.networks.state())}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Takes over what `state` has given."""
        self.trees.restore(state["trees"])
        self.networks.restore(state["networks"])
