"""Adaptation of `additive-network` to another machine, in NumPy: a few epochs more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...support.blas_threads import one_blas_thread
from ..learning.errors import LearningError
from ..learning.examples import ProgramExamples
from .adamw import AdamW, Gradient
from .additive_sum import (
    FORKS,
    INSTANCE_SECONDS,
    INSTANCES,
    AdditiveNetworkOptions,
    AdditiveSum,
    Batch,
)
from .learned_model import TrainingOptions, TrainingProgress
from .row_network import Matrix
from .row_network_gradient import Pass
from .statement_rows import ScheduleRows, with_shared_originals

EPOCHS = 4
RATE = 3e-4
DECAY = 0.05
AT_ONCE = 256
LONGEST_GRADIENT = 1.0

FAR_OFF = 1.5
"""Errors of the logarithm beyond which a pair does not count more."""

TOO_FAST = 6.4
"""The largest percentage, as a share, that counts: of what is predicted 7.4 times too fast."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """What there is to learn: rows, measured speed-ups, and which of these are upper bounds."""

    features: list[ScheduleRows]
    speedups: Matrix
    censored: NDArray[np.bool_]

    @classmethod
    def of(cls, programs: Sequence[ProgramExamples]) -> Pairs:
        """The pairs of some programs; raises LearningError when there are none."""
        features = with_shared_originals(programs)
        if not features:
            raise LearningError("there is nothing to learn from: too few programs")
        return cls(
            features,
            np.concatenate([program.speedups for program in programs]).astype(np.float32),
            np.concatenate([program.censored for program in programs]),
        )

    def chosen(self, numbers: Sequence[int]) -> Pairs:
        """Some of them."""
        features = [self.features[number] for number in numbers]
        return Pairs(features, self.speedups[numbers], self.censored[numbers])


def errors(
    predicted: Matrix, pairs: Pairs, options: AdditiveNetworkOptions
) -> tuple[Matrix, Matrix]:
    """The error of each prediction, and its slope over the logarithm of the prediction.

    Huber's function of the error of the logarithm, and a part of the percentage.
    """
    measured, censored = pairs.speedups, pairs.censored
    wrong = np.log(predicted) - np.log(measured)
    wrong = np.where(censored, np.maximum(wrong, 0.0), wrong)
    weights = np.exp(options.caution * np.clip(wrong, 0.0, FAR_OFF))
    limit = np.float32(options.tolerance)
    far = np.abs(wrong) > limit
    huber = np.where(far, limit * (np.abs(wrong) - limit / 2), wrong**2 / 2)
    differences = (predicted - measured) / measured
    percentages = np.where(censored, np.maximum(differences, 0.0), np.abs(differences))
    counted = np.sign(differences) * ((percentages > 0.0) & (percentages < TOO_FAST))
    found = weights * huber + options.percentages * np.minimum(percentages, TOO_FAST)
    slopes = weights * np.clip(wrong, -limit, limit)
    slopes += options.percentages * counted * predicted / measured
    return found, slopes


def gradient(
    member: AdditiveSum, pairs: Pairs, options: AdditiveNetworkOptions, random: np.random.Generator
) -> tuple[float, Gradient]:
    """The mean error of some pairs, and its gradient; `fork_seconds` is one of the names."""
    batch = Batch.of(pairs.features)
    way = Pass(member.rows, batch.rows, options.dropout, random)
    times = member.times(batch, way.factors)
    count = len(batch.originals)
    found, slopes = errors(times[batch.originals] / times[:count], pairs, options)
    of_logarithms = np.zeros_like(times)
    of_logarithms[:count] -= slopes / count
    np.add.at(of_logarithms, batch.originals, slopes / count)
    of_rows = (of_logarithms / times)[batch.rows.owner]
    rows = batch.rows.rows
    result = way.gradient(of_rows * np.float32(INSTANCE_SECONDS) * rows[:, INSTANCES])
    forks = np.exp(member.fork_seconds) * float((of_rows * rows[:, FORKS]).sum())
    result["fork_seconds"] = np.array(forks, np.float32)
    return float(found.mean()), result


def adapt(
    member: AdditiveSum,
    programs: Sequence[ProgramExamples],
    options: AdditiveNetworkOptions,
    training: TrainingOptions,
) -> None:
    """Trains a network a little more; it is in its best state in the end, also when interrupted.

    Raises LearningError without programs.
    """
    pairs = Pairs.of(programs)
    count = len(pairs.features)
    random = np.random.default_rng(training.seed)
    epochs = training.epochs or EPOCHS
    steps = epochs * -(-count // AT_ONCE)
    optimiser = AdamW(training.learning_rate or RATE, DECAY, steps, LONGEST_GRADIENT)
    best = float("inf")
    kept = member.state()
    try:
        for epoch in range(epochs):
            total = 0.0
            order = random.permutation(count).tolist()
            with one_blas_thread():
                for start in range(0, count, AT_ONCE):
                    numbers = order[start : start + AT_ONCE]
                    error, slopes = gradient(member, pairs.chosen(numbers), options, random)
                    total += error * len(numbers)
                    _move(member, optimiser, slopes)
                error = _error(member, pairs, options)
            if error < best:
                best, kept = error, member.state()
            training.report(TrainingProgress(epoch + 1, epochs, total / count, error, best))
    finally:
        member.restore(kept)


def _move(member: AdditiveSum, optimiser: AdamW, slopes: Gradient) -> None:
    forks = np.array(member.fork_seconds, np.float32)
    moved = optimiser.step({**member.rows.weights, "fork_seconds": forks}, slopes)
    member.fork_seconds = float(moved.pop("fork_seconds"))
    member.rows.weights = moved


def _error(member: AdditiveSum, pairs: Pairs, options: AdditiveNetworkOptions) -> float:
    total = 0.0
    for start in range(0, len(pairs.features), AT_ONCE):
        part = pairs.chosen(range(start, min(start + AT_ONCE, len(pairs.features))))
        found, _ = errors(member.speedups(Batch.of(part.features)), part, options)
        total += float(found.sum())
    return total / len(pairs.features)
