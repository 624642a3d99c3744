"""Training of `tournament` with torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from ...learning.errors import LearningError
from ...learning.examples import ProgramExamples
from ...models.learned_model import TrainingOptions, TrainingProgress
from ...models.tensors import arrays_of, descend, from_array, seeded, shuffled
from .duel_network import DuelNetwork, Values, scaled

EPOCHS = 10
LEARNING_RATE = 4e-3
BATCH = 512
LONGEST_GRADIENT = 1.0
WEIGHT_DECAY = 1e-3

NOISE = 0.02
"""Schedules whose times differ by this share are about equally good."""


def train(
    networks: Sequence[DuelNetwork],
    training: Sequence[ProgramExamples],
    validation: Sequence[ProgramExamples],
    pairs: int,
    options: TrainingOptions,
) -> None:
    """Trains on pairs of schedules of one program; raises LearningError without any.

    Other than with the other models, the last state of each network is kept: which one is best on
    the few programs to validate with is chance.
    """
    known = [program for program in training if len(program.features) > 1]
    if not known:
        raise LearningError("there is nothing to learn from: no program has two schedules")
    with seeded(options.seed):
        fresh = [_network(network.widths) for network in networks]
        learners = [
            _Learner(network, known, validation, pairs, options, number)
            for number, network in enumerate(fresh)
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
            for number, network in enumerate(networks):
                network.restore(arrays_of(trained[number % len(trained)]))


def _network(widths: Sequence[int]) -> nn.Sequential:
    parts: list[nn.Module] = []
    for width, following in pairwise(widths[:-1]):
        parts += [nn.Linear(width, following), nn.ReLU()]
    return nn.Sequential(*parts, nn.Linear(widths[-2], widths[-1]))


class _Learner:
    """The training of one network."""

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
