"""Model `tournament`: pairwise comparison of schedules, ranked by their wins.

Source: Tavarageri et al., "AI Powered Compiler Techniques for DL Code Optimization", 2021, section
3.2. It says which of some schedules of one program are the fastest, not how fast they are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ....passes.estimate.scheduling_context import SchedulingContext
from ....passes.polyhedral.isl_context import ISL_LOCK, TooComplexError
from ....passes.schedules.schedule import Schedule
from ...learning.errors import LearningError
from ...learning.examples import ProgramExamples, Unsupported
from ...models.learned_model import LearnedModel, TrainingOptions, TrainingProgress
from ...models.model_options import read_options
from ...models.tensors import descend, from_array, seeded, shuffled
from .working_set_features import ESTIMATES, PLACES, PUBLISHED, SPLIT, VERSION, Row, row_of

Values = NDArray[np.float64]

FEATURES: Mapping[str, tuple[str, ...]] = {
    "published": PUBLISHED,
    "all": (*PUBLISHED, *SPLIT, *ESTIMATES, *PLACES),
}
"""The names of the features by the option `features`."""

EPOCHS = 10
LEARNING_RATE = 4e-3
BATCH = 512
LONGEST_GRADIENT = 1.0
WEIGHT_DECAY = 1e-3

NOISE = 0.02
"""Schedules whose times differ by this share are about equally good."""

DUELS_AT_ONCE = 1 << 17


@dataclass(frozen=True)
class TournamentOptions:
    """Input features, hidden layer widths, and the margin of a win.

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
    """Featuriser: one row per schedule."""

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
    trained: ClassVar[Path | None] = Path(__file__).parent / "weights" / "tournament.pt"

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        """Networks with fresh weights; raises LearningError for unknown options."""
        self.options = read_options(TournamentOptions, configuration, self.name)
        if self.options.features not in FEATURES:
            raise LearningError(f"option features is one of {', '.join(FEATURES)}")
        super().__init__(dataclasses.asdict(self.options))
        self.networks = [self._build() for _ in range(self.options.members)]

    @property
    def featuriser(self) -> WorkingSetRows:
        """What makes the features of this model."""
        return WorkingSetRows(self.options.features)

    def _build(self) -> nn.Sequential:
        """Features of two schedules -> which one is faster: two numbers, to be normalised."""
        widths = (2 * len(FEATURES[self.options.features]), *self.options.layers)
        parts: list[nn.Module] = []
        for width, following in pairwise(widths):
            parts += [nn.Linear(width, following), nn.ReLU()]
        return nn.Sequential(*parts, nn.Linear(widths[-1], 2))

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
        rows = from_array(scaled(np.stack(features)))
        wins = np.zeros(count)
        step = max(1, DUELS_AT_ONCE // count)
        for start in range(0, count, step):
            mine = rows[start : start + step]
            duels = torch.cat([mine.repeat_interleave(count, 0), rows.repeat(len(mine), 1)], dim=1)
            won, lost = self._chances(duels).reshape(len(mine), count, 2).unbind(2)
            sure = self.options.threshold
            points = (won > sure).double() + 0.5 * ((won <= sure) & (lost <= sure)).double()
            # Far less than half a win, all together.
            points = points + 0.1 / count * won.double()
            wins[start : start + step] = points.mean(1).numpy()
        return wins

    def _chances(self, duels: Tensor) -> Tensor:
        """The probabilities that the first and the second schedule of each duel wins.

        The order of the two does not matter: each duel takes place both ways.
        """
        width = duels.shape[1] // 2
        turned = torch.cat([duels[:, width:], duels[:, :width]], dim=1)
        total = torch.zeros(len(duels), 2)
        with torch.inference_mode():
            for network in self.networks:
                total += torch.softmax(network(duels), 1)
                total += torch.softmax(network(turned), 1).flip(1)
        return total / (2 * len(self.networks))

    def fit(
        self,
        training: Sequence[ProgramExamples],
        validation: Sequence[ProgramExamples],
        options: TrainingOptions,
    ) -> None:
        """Trains on pairs of schedules of one program; raises LearningError without any.

        Other than with the other models, the last state of each network is kept: which one is best
        on the few programs to validate with is chance.
        """
        known = [program for program in training if len(program.features) > 1]
        if not known:
            raise LearningError("there is nothing to learn from: no program has two schedules")
        with seeded(options.seed):
            self.networks = [self._build() for _ in range(self.options.members)]
            learners = [
                _Learner(network, known, validation, self.options.pairs, options, number)
                for number, network in enumerate(self.networks)
            ]
            epochs = options.epochs or EPOCHS
            trained: list[nn.Sequential] = []
            try:
                for number, learner in enumerate(learners):
                    for epoch in range(epochs):
                        error = learner.epoch()
                        options.report(
                            TrainingProgress(
                                number * epochs + epoch + 1,
                                len(learners) * epochs,
                                error,
                                learner.error,
                                learner.error,
                            )
                        )
                    trained.append(learner.network)
            finally:
                # After an interruption, those that are trained have the votes of the others, too.
                trained = trained or [learners[0].network]
                self.networks = [trained[n % len(trained)] for n in range(self.options.members)]

    def state(self) -> Mapping[str, Any]:
        """The weights."""
        return {
            str(number): dict(network.state_dict()) for number, network in enumerate(self.networks)
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Takes over weights."""
        for number, network in enumerate(self.networks):
            network.load_state_dict(state[str(number)])


def scaled(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each column from 0 to 1: min-max scaling among the schedules that compete."""
    low = rows.min(axis=0)
    span = np.ptp(rows, axis=0)
    return ((rows - low) / np.where(span > 0, span, 1)).astype(np.float32)


class _Learner:
    """Training of one network."""

    def __init__(
        self,
        network: nn.Sequential,
        training: Sequence[ProgramExamples],
        validation: Sequence[ProgramExamples],
        pairs: int,
        options: TrainingOptions,
        member: int,
    ) -> None:
        self.network = network
        self.random = np.random.default_rng((options.seed, member))
        self.order = torch.Generator().manual_seed(options.seed + member)
        self.pairs = pairs
        self.training = [_Contest.of(program) for program in training]
        self.judged = [_Contest.of(p) for p in validation if len(p.features) > 1]
        rate = options.learning_rate or LEARNING_RATE
        self.optimiser = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=WEIGHT_DECAY)
        count = sum(min(pairs, contest.count) for contest in self.training)
        self.schedule = torch.optim.lr_scheduler.OneCycleLR(
            self.optimiser, rate, total_steps=(options.epochs or EPOCHS) * (-(-count // BATCH)) + 1
        )
        self.error = float("inf")

    def epoch(self) -> float:
        """Trains on some pairs of each program; the share that the network gets wrong."""
        drawn = [contest.draw(self.random, self.pairs) for contest in self.training]
        duels = torch.cat([duels for duels, _ in drawn])
        chances = torch.cat([chances for _, chances in drawn])
        wrong = 0
        order = shuffled(len(duels), self.order)
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            expected = chances[chosen]
            found = torch.log_softmax(self.network(duels[chosen]), 1)
            loss = -(expected * found).sum(1).mean()
            descend(loss, self.optimiser, LONGEST_GRADIENT)
            self.schedule.step()
            wrong += int((found.argmax(1) != expected.argmax(1)).sum())
        self._judge()
        return wrong / len(order)

    def _judge(self) -> None:
        """The share of pairs of other programs that it gets wrong."""
        if not self.judged:
            return
        random = np.random.default_rng(0)
        wrong = total = 0
        with torch.inference_mode():
            for contest in self.judged:
                duels, chances = contest.draw(random, self.pairs)
                wrong += int((self.network(duels).argmax(1) != chances.argmax(1)).sum())
                total += len(duels)
        self.error = wrong / total


@dataclass(frozen=True, eq=False)
class _Contest:
    """The schedules of one program: scaled features, and logarithms of speed-ups."""

    rows: Tensor
    speedups: Values

    @classmethod
    def of(cls, program: ProgramExamples) -> _Contest:
        rows = from_array(scaled(np.stack(list(program.features))))
        return cls(rows, np.log(program.speedups))

    @property
    def count(self) -> int:
        """How many pairs there are."""
        return len(self.speedups) * (len(self.speedups) - 1)

    def draw(self, random: np.random.Generator, pairs: int) -> tuple[Tensor, Tensor]:
        """Random pairs of different schedules, and how likely each of the two is the better."""
        total = len(self.speedups)
        numbers = random.choice(self.count, min(pairs, self.count), replace=False)
        first, second = np.divmod(numbers, total - 1)
        second += second >= first
        chance = 1 / (1 + np.exp((self.speedups[second] - self.speedups[first]) / NOISE))
        duels = torch.cat([self.rows[from_array(first)], self.rows[from_array(second)]], dim=1)
        return duels, from_array(np.stack([chance, 1 - chance], 1).astype(np.float32))
