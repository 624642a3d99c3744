"""Model `interchange-trees` (ours): boosted trees that rank corrected estimates.

The time of a nest is the sum over its statements of an estimate times a correction, as in the
additive cost model, for all interchanges of `rows`. The trees are grown for two ends: the softmax
of the logarithms of the times is to give the fastest interchange (cross-entropy; those that are as
fast within the noise share the target), and the times themselves are to be right up to a factor
that all interchanges of a program have in common.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...learning.errors import LearningError
from ...learning.examples import ProgramExamples
from ...models.forest import Forest, Growth, Matrix, Tree, Values, digitise, grow, quantiles
from ...models.learned_model import TrainingOptions, TrainingProgress
from ...models.model_options import read_options
from .accuracy import CUT_OFF, times_of
from .classes import CLASSES, SHOTS
from .interchange_model import InterchangeModel
from .nest_rows import NAMES, SECONDS, NestRows, RowDescription

_LEAST = 1e-12
"""Seconds."""


@dataclass(frozen=True)
class TreesOptions:
    """Hyperparameters of the trees.

    `members` forests of `trees` trees of `depth` are averaged. Each tree adds `rate` of what it
    would change, sees a `part` of the programs and a `share` of the features. The softmax is of
    `sharpness` times the logarithms, the targets of logarithms over `noise`; `magnitude` is how
    much the times themselves count.
    """

    members: int = 3
    trees: int = 300
    depth: int = 6
    rate: float = 0.05
    part: float = 0.8
    share: float = 0.3
    smoothing: float = 1.0
    sharpness: float = 3.0
    noise: float = 0.05
    magnitude: float = 0.3


class InterchangeTrees(InterchangeModel):
    """The model `interchange-trees`."""

    name: ClassVar[str] = "interchange-trees"
    trained: ClassVar[Path | None] = Path(__file__).parent / "weights" / "interchange-trees.npz"
    sees_machine: ClassVar[bool] = True
    sees_fast_math: ClassVar[bool] = True

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        """A model without corrections: the estimates as they are."""
        self.options = read_options(TreesOptions, configuration, self.name)
        super().__init__(dataclasses.asdict(self.options))
        self.forest = Forest.of([], self.options.depth)

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
        """Grows the forests; Ctrl-C keeps the trees so far."""
        if not training or not validation:
            raise LearningError("there is nothing to learn from: too few programs")
        settings = dataclasses.replace(
            self.options,
            trees=options.epochs or self.options.trees,
            rate=options.learning_rate or self.options.rate,
        )
        forests: list[list[Tree]] = []
        judged = _Times.of(validation)
        try:
            for member in range(settings.members):
                boosting = _Boosting(training, settings, options.seed + member)
                corrections = np.zeros(len(judged.rows))
                forests.append([])
                best = float("inf")
                for number in range(settings.trees):
                    tree = boosting.step()
                    forests[-1].append(tree)
                    corrections += Forest.of([tree], settings.depth).predict(judged.rows)
                    error = judged.error(corrections, settings)
                    best = min(best, error)
                    options.report(
                        TrainingProgress(
                            member * settings.trees + number + 1,
                            settings.members * settings.trees,
                            boosting.error,
                            error,
                            best,
                        )
                    )
        finally:
            whole = [trees for trees in forests if len(trees) == settings.trees] or forests[:1]
            parts = [
                dataclasses.replace(tree, values=tree.values / len(whole))
                for trees in whole
                for tree in trees
            ]
            self.forest = Forest.of(parts, settings.depth)

    def ratings(self, nests: Sequence[Any]) -> NDArray[np.float64]:
        """Logarithms of predicted rates, the same for every shot; -inf where there is no class."""
        result = np.full((len(nests), SHOTS, len(CLASSES)), -np.inf)
        flat = np.concatenate([each.rows.reshape(-1, len(NAMES)) for each in nests])
        seconds = _estimates(flat) * np.exp(self.forest.predict(flat))
        start = 0
        for position, each in enumerate(nests):
            count = each.rows.shape[0] * each.rows.shape[1]
            own = seconds[start : start + count].reshape(each.rows.shape[:2]).sum(axis=1)
            result[position, :, list(each.classes)] = -np.log(own)[:, None]
            start += count
        return result

    def state(self) -> Mapping[str, Any]:
        """The trees."""
        return self.forest.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Takes over what `state` has given."""
        self.forest = Forest.restored(state)


def _estimates(rows: Matrix) -> Values:
    return np.maximum(rows[:, SECONDS].astype(np.float64), _LEAST)


@dataclass(frozen=True, eq=False)
class _Times:
    """Concatenated measured interchanges of all programs, and the rows of each.

    `interchange_of` has an entry per row, `program_of` per interchange. `slower` is the logarithm
    of the time over that of the best one, at most that of what is cut off.
    """

    rows: Matrix
    interchange_of: NDArray[np.int64]
    program_of: NDArray[np.int64]
    slower: Values
    censored: NDArray[np.bool_]

    @classmethod
    def of(cls, programs: Sequence[ProgramExamples]) -> _Times:
        """The labels of some programs."""
        rows: list[Matrix] = []
        interchange_of: list[int] = []
        program_of: list[int] = []
        times: list[float] = []
        for number, program in enumerate(programs):
            measured = times_of(program)
            nest: NestRows = program.features[0].nest
            for each in program.features:
                own = nest.rows[nest.classes.index(each.number)]
                rows.append(own)
                interchange_of += [len(times)] * len(own)
                program_of.append(number)
                times.append(float(measured[each.number] / measured.min()))
        censored = ~np.isfinite(times)
        return cls(
            np.concatenate(rows).astype(np.float32),
            np.array(interchange_of),
            np.array(program_of),
            np.log(np.minimum(times, CUT_OFF)),
            censored,
        )

    def targets(self, noise: float) -> Values:
        """The share of the target of each interchange."""
        found = np.exp(-self.slower / noise) * ~self.censored
        return found / np.bincount(self.program_of, found)[self.program_of]

    def times(self, corrections: Values) -> tuple[Values, Values]:
        """Predicted seconds of rows and of interchanges."""
        own = _estimates(self.rows) * np.exp(corrections)
        return own, np.bincount(self.interchange_of, own).astype(np.float64)

    def chances(self, seconds: Values, sharpness: float) -> Values:
        """The softmax over the interchanges of each program."""
        found = -sharpness * np.log(seconds)
        highest = np.full(self.program_of[-1] + 1, -np.inf)
        np.maximum.at(highest, self.program_of, found)
        found = np.exp(found - highest[self.program_of])
        return found / np.bincount(self.program_of, found)[self.program_of]

    def error(self, corrections: Values, settings: TreesOptions) -> float:
        """The mean cross-entropy."""
        chances = self.chances(self.times(corrections)[1], settings.sharpness)
        return self.cross_entropy(chances, self.targets(settings.noise))

    def cross_entropy(self, chances: Values, targets: Values) -> float:
        """The mean over programs."""
        found = -targets * np.log(np.maximum(chances, 1e-12))
        return float(found.sum() / (self.program_of[-1] + 1))


class _Boosting:
    """State of boosting one forest."""

    def __init__(
        self, programs: Sequence[ProgramExamples], settings: TreesOptions, seed: int
    ) -> None:
        self.settings = settings
        self.random = np.random.default_rng(seed)
        self.labels = _Times.of(programs)
        self.targets = self.labels.targets(settings.noise)
        self.thresholds = quantiles(self.labels.rows)
        self.bins = digitise(self.labels.rows, self.thresholds)
        self.corrections = np.zeros(len(self.labels.rows))
        self.error = float("nan")

    def step(self) -> Tree:
        """One more tree."""
        labels, settings = self.labels, self.settings
        own, seconds = labels.times(self.corrections)
        chances = labels.chances(seconds, settings.sharpness)
        self.error = labels.cross_entropy(chances, self.targets)
        slopes = settings.sharpness * (self.targets - chances)
        weights = settings.sharpness**2 * np.maximum(chances * (1 - chances), 1e-3)
        residuals = self._residuals(np.log(seconds))
        flat = settings.magnitude / np.sqrt(1.0 + residuals**2)
        slopes += flat * residuals
        weights += flat
        # What is wrong with an interchange is handed down to its statements.
        shares = own / seconds[labels.interchange_of]
        drawn = self.random.random(int(labels.program_of[-1]) + 1)
        kept = np.flatnonzero(drawn[labels.program_of][labels.interchange_of] < settings.part)
        tree = grow(
            np.ascontiguousarray(self.bins[:, kept]),
            self.thresholds,
            (slopes[labels.interchange_of] * shares)[kept],
            np.maximum(weights[labels.interchange_of] * shares, 1e-6)[kept],
            Growth(settings.depth, settings.share, settings.smoothing),
            self.random,
        )
        tree = dataclasses.replace(tree, values=tree.values * settings.rate)
        self.corrections += Forest.of([tree], settings.depth).predict(labels.rows)
        return tree

    def _residuals(self, found: Values) -> Values:
        """By how much logarithms of times are too large, but for what a program has in common."""
        labels = self.labels
        certain = (~labels.censored).astype(np.float64)
        differences = found - labels.slower
        common = np.bincount(labels.program_of, certain * differences)
        common /= np.maximum(np.bincount(labels.program_of, certain), 1.0)
        differences -= common[labels.program_of]
        # What was cut off is only known to be slower than it seems.
        return np.where(labels.censored, np.minimum(differences, 0.0), differences)
