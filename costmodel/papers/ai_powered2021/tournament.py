"""Model `tournament`: pairwise comparison of schedules, ranked by their wins.

Source: Tavarageri et al., "AI Powered Compiler Techniques for DL Code Optimization", 2021, section
3.2. It says which of some schedules of one program are the fastest, not how fast they are.
Ranking is in NumPy; `tournament_training` trains with torch.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ....passes.estimate.scheduling_context import SchedulingContext
from ....passes.polyhedral.isl_context import ISL_LOCK, TooComplexError
from ....passes.schedules.schedule import Schedule
from ....support.blas_threads import one_blas_thread
from ....support.extras import extra_for
from ...learning.errors import LearningError
from ...learning.examples import ProgramExamples, Unsupported
from ...models.learned_model import LearnedModel, TrainingOptions
from ...models.model_options import read_options
from .duel_network import DuelNetwork, Rows, Values, scaled
from .working_set_features import ESTIMATES, PLACES, PUBLISHED, SPLIT, VERSION, Row, row_of

FEATURES: Mapping[str, tuple[str, ...]] = {
    "published": PUBLISHED,
    "all": (*PUBLISHED, *SPLIT, *ESTIMATES, *PLACES),
}
"""The names of the features by the option `features`."""

DUELS_AT_ONCE = 1 << 17


@dataclass(frozen=True)
class TournamentOptions:
    """What the network sees, the widths of its hidden layers, and how sure it must be of a win.

    `pairs` of schedules of each program are compared in every epoch of the training; `members`
    networks vote.
    """

    features: str = "all"
    layers: tuple[int, ...] = (64, 32, 16)
    threshold: float = 0.7
    pairs: int = 1500
    members: int = 6


@dataclass(frozen=True)
class WorkingSetRows:
    """Makes the features: one row per schedule."""

    kind: str

    @property
    def schema(self) -> str:
        """Name and version."""
        return f"ranking-{self.kind}-{VERSION}"

    def featurise(self, context: SchedulingContext, schedules: Sequence[Schedule]) -> list[Row]:
        """The row of each schedule; raises Unsupported."""
        with ISL_LOCK:
            try:
                return [row_of(each, context, whole=self.kind == "all") for each in schedules]
            except TooComplexError as error:
                raise Unsupported(f"working sets are too complex: {error}") from error


class Tournament(LearnedModel):
    """The model `tournament`."""

    name: ClassVar[str] = "tournament"
    trained: ClassVar[Path | None] = Path(__file__).parent / "weights" / "tournament.npz"
    trains_with: ClassVar[str | None] = "torch"

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        """Networks that prefer nothing yet; raises LearningError for unknown options."""
        self.options = read_options(TournamentOptions, configuration, self.name)
        if self.options.features not in FEATURES:
            raise LearningError(f"option features is one of {', '.join(FEATURES)}")
        super().__init__(dataclasses.asdict(self.options))
        self.networks = [self._build() for _ in range(self.options.members)]

    @property
    def featuriser(self) -> WorkingSetRows:
        """What makes the features of this model."""
        return WorkingSetRows(self.options.features)

    def _build(self) -> DuelNetwork:
        return DuelNetwork((2 * len(FEATURES[self.options.features]), *self.options.layers, 2))

    def predict(self, context: SchedulingContext, schedules: Sequence[Schedule]) -> Sequence[float]:
        """Raises LearningError: a tournament tells no speed-ups."""
        raise LearningError("the model tournament orders schedules only: use it with --rank")

    def rank(self, context: SchedulingContext, schedules: Sequence[Schedule]) -> list[int]:
        """The positions of the schedules of one program, most wins first; raises Unsupported."""
        wins = self.score(self.featuriser.featurise(context, schedules))
        return np.argsort(-wins, kind="stable").tolist()

    def score(self, features: Sequence[Row]) -> Values:
        """The share of its duels that each schedule wins; all are of one program.

        A draw is half a win; where shares are equal, probabilities decide.
        """
        count = len(features)
        if count < 2:
            return np.ones(count)
        rows = scaled(np.stack(features))
        wins = np.zeros(count)
        step = max(1, DUELS_AT_ONCE // count)
        for start in range(0, count, step):
            mine = rows[start : start + step]
            duels = np.concatenate([mine.repeat(count, 0), np.tile(rows, (len(mine), 1))], axis=1)
            chances = self._chances(duels).reshape(len(mine), count, 2)
            won, lost = chances[..., 0], chances[..., 1]
            sure = self.options.threshold
            points = (won > sure) + 0.5 * ((won <= sure) & (lost <= sure))
            # Far less than half a win, all together.
            points = points + 0.1 / count * won.astype(np.float64)
            wins[start : start + step] = points.mean(axis=1)
        return wins

    def _chances(self, duels: Rows) -> Rows:
        """The probabilities that the first and the second schedule of each duel wins.

        The order of the two does not matter: each duel takes place both ways.
        """
        width = duels.shape[1] // 2
        turned = np.concatenate([duels[:, width:], duels[:, :width]], axis=1)
        total = np.zeros((len(duels), 2), np.float32)
        with one_blas_thread():
            for network in self.networks:
                total += network.chances(duels)
                total += network.chances(turned)[:, ::-1]
        return total / (2 * len(self.networks))

    def fit(
        self,
        training: Sequence[ProgramExamples],
        validation: Sequence[ProgramExamples],
        options: TrainingOptions,
    ) -> None:
        """Trains on pairs of schedules of one program; raises LearningError without any."""
        with extra_for(f"training {self.name}"):
            from .tournament_training import train

        train(self.networks, training, validation, self.options.pairs, options)

    def state(self) -> Mapping[str, Any]:
        """The weights of each network."""
        return {str(number): network.weights for number, network in enumerate(self.networks)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Takes over weights."""
        for number, network in enumerate(self.networks):
            network.restore(state[str(number)])
