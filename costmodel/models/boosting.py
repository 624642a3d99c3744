"""Gradient boosting of per-statement corrections, fitted to times of whole schedules."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..learning.examples import ProgramExamples
from .array_files import load_arrays, store_arrays
from .forest import Forest, Growth, Tree, Values, digitise, grow, quantiles
from .learned_model import TrainingOptions, TrainingProgress
from .model_files import check_plan
from .statement_rows import ScheduleBatch, tree_inputs, with_shared_originals

_STEP = 0.1
"""How far the time of a fork moves per tree, of what would be best."""

_FAR_OFF = 1.5
"""Errors of the logarithm beyond which a pair does not count more."""

STORED_EVERY = 20
"""Trees after which a checkpoint is written."""


@dataclass(frozen=True)
class AdditiveOptions:
    """Hyperparameters of the boosted trees.

    `members` forests of `trees` trees of `depth` are averaged. Each tree adds `rate` of what it
    would change, sees a `part` of the programs and a `share` of the features. Errors larger than
    `tolerance` (of the logarithm) count linearly. Schedules that are predicted e times too fast
    count `exp(caution)` times as much: MAPE is mostly about these.
    """

    members: int = 3
    trees: int = 300
    depth: int = 7
    rate: float = 0.3
    part: float = 0.8
    share: float = 0.3
    smoothing: float = 5.0
    tolerance: float = 1.0
    caution: float = 0.5


class Growing:
    """Training of one forest: early stopping on validation, with checkpoints."""

    def __init__(
        self,
        training: Sequence[ProgramExamples],
        validation: Sequence[ProgramExamples],
        settings: AdditiveOptions,
        options: TrainingOptions,
        fork_seconds: float,
    ) -> None:
        """A forest without trees, or with those of the checkpoint; raises LearningError."""
        self._settings = settings
        self._options = options
        self._boosting = Boosting(training, settings, options.seed, fork_seconds)
        self._judge = _Judge(validation)
        self._random = self._boosting.random.bit_generator.state
        self._trees: list[Tree] = []
        self._forks = [fork_seconds]
        self._errors: list[float] = []
        if options.resume and options.checkpoint is not None:
            self._resume(options.checkpoint)

    def run(self) -> None:
        """Grows all trees, or until the last ones of `patience` have not helped."""
        try:
            while not self.is_finished:
                self._add(self._boosting.step(), self._boosting.fork_seconds)
                self._report()
                if len(self._trees) % STORED_EVERY == 0:
                    self._store()
        finally:
            self._store()

    @property
    def best(self) -> tuple[list[Tree], float]:
        """The trees with the smallest error on validation, and the time of a fork with these.

        All trees where there is nothing to validate with.
        """
        count = len(self._trees)
        if np.isfinite(self._errors).any():
            count = 1 + int(np.nanargmin(self._errors))
        return self._trees[:count], self._forks[count]

    @property
    def is_finished(self) -> bool:
        """Whether there is nothing left to grow."""
        patience = self._options.patience or self._settings.trees
        grown = len(self._trees)
        return grown == self._settings.trees or grown - len(self.best[0]) >= patience

    def _add(self, tree: Tree, fork_seconds: float) -> None:
        self._random = self._boosting.random.bit_generator.state
        self._trees.append(tree)
        self._forks.append(fork_seconds)
        self._judge.add(tree, fork_seconds)
        self._errors.append(self._judge.error)

    def _report(self) -> None:
        self._options.report(
            TrainingProgress(
                len(self._trees),
                self._settings.trees,
                self._boosting.error,
                self._judge.error,
                min(self._errors),
            )
        )

    def _store(self) -> None:
        if self._options.checkpoint is None or not self._trees:
            return
        grown = Forest.of(self._trees, self._settings.depth)
        store_arrays(
            self._options.checkpoint,
            {
                "plan": self._plan(),
                "forks": self._forks,
                "random": json.dumps(self._random),
                **grown.state(),
            },
        )

    def _resume(self, path: Path) -> None:
        content = load_arrays(path)
        check_plan(path, content.get("plan"), self._plan())
        arrays = [content[name] for name in ("features", "thresholds", "values")]
        self._boosting.random.bit_generator.state = json.loads(content["random"])
        self._random = self._boosting.random.bit_generator.state
        self._boosting.fork_seconds = content["forks"][-1]
        for number, fork_seconds in enumerate(content["forks"][1:]):
            tree = Tree(*(array[number] for array in arrays))
            self._boosting.add(tree)
            self._add(tree, fork_seconds)

    def _plan(self) -> str:
        """What must be the same for a training to go on."""
        return (
            f"{self._boosting.count} examples, {self._settings.trees} trees, seed "
            f"{self._options.seed}, {self._options.identity}"
        )


class Boosting:
    """State of boosting: the forest so far and the residuals."""

    def __init__(
        self,
        programs: Sequence[ProgramExamples],
        settings: AdditiveOptions,
        seed: int,
        fork_seconds: float,
        grown: Forest | None = None,
    ) -> None:
        self.settings = settings
        self.random = np.random.default_rng(seed)
        self.fork_seconds = fork_seconds
        self.labels = _Labels.of(programs)
        self.batch = self.labels.batch
        inputs = tree_inputs(self.batch.rows)
        self.thresholds = quantiles(inputs)
        self.inputs = inputs
        self.bins = digitise(inputs, self.thresholds)
        self.corrections = np.zeros(len(inputs)) if grown is None else grown.predict(inputs)
        self.pair_of_row = np.repeat(np.arange(len(self.batch.counts)), self.batch.counts)
        self.error = float("nan")

    @property
    def count(self) -> int:
        """How many schedules it grows from."""
        return len(self.labels.speedups)

    def step(self) -> Tree:
        """One more tree, and a better time for a fork."""
        batch, settings = self.batch, self.settings
        times = batch.estimates * np.exp(self.corrections)
        seconds = batch.sums(times) + self.fork_seconds * batch.forks
        residuals = self.labels.residuals(seconds)
        self.error = _mape(residuals, self.labels.censored)
        flat = np.exp(settings.caution * np.clip(residuals, 0.0, _FAR_OFF))
        flat /= np.sqrt(1.0 + (residuals / settings.tolerance) ** 2)
        # Of each schedule, then of its program as written, which stands on the other side.
        slopes = np.zeros(len(seconds))
        weights = np.zeros(len(seconds))
        count = len(residuals)
        slopes[:count], weights[:count] = -residuals * flat, flat
        slopes -= np.bincount(batch.originals, slopes[:count], len(seconds))
        weights += np.bincount(batch.originals, weights[:count], len(seconds))
        shares = times / seconds[self.pair_of_row]
        gradients = slopes[self.pair_of_row] * shares
        curvatures = np.maximum(weights[self.pair_of_row] * shares, 1e-6)
        self._move_fork(slopes, weights, seconds)
        chosen = self.random.random(len(seconds)) < settings.part
        # All schedules of a program are left out together.
        chosen[:count] = chosen[batch.originals]
        kept = chosen[self.pair_of_row]
        growth = Growth(settings.depth, settings.share, settings.smoothing)
        tree = grow(
            np.ascontiguousarray(self.bins[:, kept]),
            self.thresholds,
            gradients[kept],
            curvatures[kept],
            growth,
            self.random,
        )
        tree = dataclasses.replace(tree, values=tree.values * settings.rate)
        self.add(tree)
        return tree

    def add(self, tree: Tree) -> None:
        """Corrects by what a tree says."""
        self.corrections += Forest.of([tree], self.settings.depth).predict(self.inputs)

    def _move_fork(self, slopes: Values, weights: Values, seconds: Values) -> None:
        shares = self.fork_seconds * self.batch.forks / seconds
        slope = float((slopes * shares).sum())
        weight = float((weights * shares**2).sum()) + 5.0
        self.fork_seconds *= float(np.exp(np.clip(-_STEP * slope / weight, -0.2, 0.2)))


@dataclass(frozen=True, eq=False)
class _Labels:
    """Schedules of programs with the logarithms of their measured speed-ups."""

    batch: ScheduleBatch
    speedups: Values
    censored: NDArray[np.bool_]

    @classmethod
    def of(cls, programs: Sequence[ProgramExamples]) -> _Labels:
        return cls(
            ScheduleBatch.of(with_shared_originals(programs)),
            np.log(np.concatenate([program.speedups for program in programs])),
            np.concatenate([program.censored for program in programs]),
        )

    def residuals(self, seconds: Values) -> Values:
        """By how much predicted speed-ups are too large; below a bound, nothing is wrong."""
        predicted = np.log(seconds[self.batch.originals] / seconds[: len(self.speedups)])
        found = predicted - self.speedups
        return np.where(self.censored, np.maximum(found, 0.0), found)


class _Judge:
    """Validation error, on held-out programs."""

    def __init__(self, programs: Sequence[ProgramExamples]) -> None:
        self.labels = _Labels.of(programs) if programs else None
        self.error = float("inf")
        if self.labels is not None:
            self.inputs = tree_inputs(self.labels.batch.rows)
            self.corrections = np.zeros(len(self.inputs))

    def add(self, tree: Tree, fork_seconds: float) -> None:
        """Takes one more tree into account."""
        if self.labels is None:
            return
        batch = self.labels.batch
        self.corrections += Forest.of([tree], len(tree.features)).predict(self.inputs)
        seconds = batch.sums(batch.estimates * np.exp(self.corrections))
        residuals = self.labels.residuals(seconds + fork_seconds * batch.forks)
        self.error = _mape(residuals, self.labels.censored)


def _mape(residuals: Values, censored: NDArray[np.bool_]) -> float:
    certain = residuals[~censored]
    return float(np.abs(np.expm1(certain)).mean()) if len(certain) else float("nan")
