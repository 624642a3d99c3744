"""A cost model that adds up the times of statements: a rough estimate of each, times a correction.

What a program takes is the sum of what its statements take under their loops, and of what it takes
to start parallel loops. Boosted trees learn by which factor the estimate of each statement is
wrong, though only whole programs were measured: the error of a program is handed down to its
statements by their shares of the time. The program as written goes through the same trees, so
what is wrong in the same way before and after a schedule cancels out of the speed-up.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...passes.default.request import Request
from ...passes.polyhedral.context import ISL_LOCK
from ...passes.schedule import Schedule
from ..features.extract import rows_of
from ..features.schema import FEATURES_VERSION, column
from ..learning.errors import LearningError
from ..learning.examples import ProgramExamples
from .forest import Forest, Growth, Matrix, Tree, Values, digitise, grow, quantiles
from .model import LearnedModel, TrainingOptions, TrainingProgress
from .options import read_options

_SECONDS = column("estimate.seconds")
_FORKS = column("threads.forks")

_STEP = 0.1
"""How far the time of a fork moves per tree, of what would be best."""

_ADAPTING = 60
_ADAPTING_RATE = 0.05
_ADAPTING_SMOOTHING = 20.0
"""Trees that are added for another machine; small steps keep few programs from deciding much."""

_FAR_OFF = 1.5
"""Errors of the logarithm beyond which a pair does not count more."""


class ScheduleRows(NamedTuple):
    """Rows of `features.schema.NAMES`: of the statements scheduled, and as written."""

    scheduled: Matrix
    original: Matrix


class StatementRows:
    """Makes the features: one row per statement."""

    schema = f"statements-{FEATURES_VERSION}"

    def featurise(self, request: Request, schedules: Sequence[Schedule]) -> list[ScheduleRows]:
        """The rows of each schedule."""
        if not schedules:
            return []
        first = schedules[0]
        with ISL_LOCK:
            written = Schedule.original(first.program, first.target, reassociate=first.reassociate)
            original, *scheduled = rows_of([written, *schedules], request)
            return [ScheduleRows(rows, original) for rows in scheduled]


def with_shared_originals(programs: Sequence[ProgramExamples]) -> list[ScheduleRows]:
    """The features of all pairs: stored ones have an original each, here those of a program one."""
    return [
        ScheduleRows(each.scheduled, program.features[0].original)
        for program in programs
        for each in program.features
    ]


@dataclass(frozen=True)
class AdditiveOptions:
    """How the trees are grown.

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


class Additive(LearnedModel):
    """The model; see above."""

    name: ClassVar[str] = "additive"
    sees_machine: ClassVar[bool] = True
    sees_fast_math: ClassVar[bool] = True

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        """A model without corrections: the estimates as they are."""
        self.options = read_options(AdditiveOptions, configuration, self.name)
        super().__init__(dataclasses.asdict(self.options))
        self.forest = Forest.of([], self.options.depth)
        self.fork_seconds = 5e-6

    @property
    def featuriser(self) -> StatementRows:
        """What makes the features of this model."""
        return StatementRows()

    def score(self, features: Sequence[ScheduleRows]) -> Values:
        """The predicted speed-ups."""
        if not features:
            return np.zeros(0)
        batch = _Batch.of(features)
        seconds = self._seconds(batch)
        return seconds[batch.originals] / seconds[: len(features)]

    def _seconds(self, batch: _Batch) -> Values:
        corrections = self.forest.predict(_inputs(batch.rows))
        times = batch.estimates * np.exp(corrections)
        return batch.sums(times) + self.fork_seconds * batch.forks

    def fit(
        self,
        training: Sequence[ProgramExamples],
        validation: Sequence[ProgramExamples],
        options: TrainingOptions,
    ) -> None:
        """Grows the trees; raises LearningError without programs."""
        if not training:
            raise LearningError("there is nothing to learn from: too few programs")
        settings = dataclasses.replace(
            self.options,
            trees=options.epochs or self.options.trees,
            rate=options.learning_rate or self.options.rate,
        )
        forests: list[list[Tree]] = []
        forks: list[float] = []
        try:
            for member in range(settings.members):
                forests.append([])
                boosting = _Boosting(training, settings, options.seed + member, self.fork_seconds)
                judge = _Judge(validation)
                for number in range(settings.trees):
                    forests[-1].append(boosting.step())
                    self._report(options, settings, member, number, boosting, judge, forests[-1])
                forks.append(boosting.fork_seconds)
        finally:
            whole = [trees for trees in forests if len(trees) == settings.trees] or forests[:1]
            parts = [
                dataclasses.replace(tree, values=tree.values / len(whole))
                for trees in whole
                for tree in trees
            ]
            self.forest = Forest.of(parts, settings.depth)
            self.fork_seconds = float(np.mean(forks)) if forks else self.fork_seconds

    def adapt(self, programs: Sequence[ProgramExamples], options: TrainingOptions) -> None:
        """Grows more trees on top of those that are there, from labels of another machine.

        Raises LearningError without programs; KeyboardInterrupt, with the trees so far kept.
        """
        if not programs:
            raise LearningError("there is nothing to learn from: too few programs")
        settings = dataclasses.replace(
            self.options,
            trees=options.epochs or _ADAPTING,
            rate=options.learning_rate or _ADAPTING_RATE,
            smoothing=max(self.options.smoothing, _ADAPTING_SMOOTHING),
        )
        boosting = _Boosting(programs, settings, options.seed, self.fork_seconds, self.forest)
        grown: list[Tree] = []
        nothing = float("nan")
        try:
            for number in range(settings.trees):
                grown.append(boosting.step())
                options.report(
                    TrainingProgress(number + 1, settings.trees, boosting.error, nothing, nothing)
                )
        finally:
            self.forest = self.forest.joined(Forest.of(grown, settings.depth))
            self.fork_seconds = boosting.fork_seconds

    def _report(
        self,
        options: TrainingOptions,
        settings: AdditiveOptions,
        member: int,
        number: int,
        boosting: _Boosting,
        judge: _Judge,
        trees: Sequence[Tree],
    ) -> None:
        judge.add(trees[-1], boosting.fork_seconds)
        options.report(
            TrainingProgress(
                member * settings.trees + number + 1,
                settings.members * settings.trees,
                boosting.error,
                judge.error,
                judge.best,
            )
        )

    def state(self) -> Mapping[str, Any]:
        """The trees, and how long it takes to start a parallel loop."""
        from .tensors import from_array

        arrays = {name: from_array(array) for name, array in self.forest.state().items()}
        return {"fork_seconds": self.fork_seconds, **arrays}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Takes over what `state` has given."""
        self.fork_seconds = float(state["fork_seconds"])
        self.forest = Forest(
            *(state[name].numpy() for name in ("features", "thresholds", "values"))
        )


def _inputs(rows: Matrix) -> Matrix:
    """What trees see: forks have a time of their own, which depends on the system only."""
    rows = rows.copy()
    rows[:, _FORKS] = 0.0
    return rows


@dataclass(frozen=True, eq=False)
class _Batch:
    """Rows of many schedules behind each other; programs as written come last, each once.

    Schedule n has the rows from `starts[n]` on; `originals[n]` is the number of its program among
    all (an entry each for the schedules, not for the programs as written).
    """

    rows: Matrix
    starts: NDArray[np.int64]
    counts: NDArray[np.int64]
    originals: NDArray[np.int64]
    estimates: Values
    forks: Values

    @classmethod
    def of(cls, features: Sequence[ScheduleRows]) -> _Batch:
        numbers: dict[int, int] = {}
        written: list[Matrix] = []
        originals: list[int] = []
        for each in features:
            if id(each.original) not in numbers:
                numbers[id(each.original)] = len(features) + len(written)
                written.append(each.original)
            originals.append(numbers[id(each.original)])
        parts = [*(each.scheduled for each in features), *written]
        rows = np.concatenate(parts).astype(np.float32, copy=False)
        counts = np.array([len(part) for part in parts])
        starts = np.cumsum(counts) - counts
        estimates = rows[:, _SECONDS].astype(np.float64)
        forks = _sums(rows[:, _FORKS].astype(np.float64), starts, counts)
        return cls(rows, starts, counts, np.array(originals), estimates, forks)

    def sums(self, values: Values) -> Values:
        """The sum of some values per row, for each schedule."""
        return _sums(values, self.starts, self.counts)


def _sums(values: Values, starts: NDArray[np.int64], counts: NDArray[np.int64]) -> Values:
    ends = np.concatenate([[0.0], np.cumsum(values)])
    return np.maximum(ends[starts + counts] - ends[starts], 1e-9)


class _Boosting:
    """The state of one forest that grows."""

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
        inputs = _inputs(self.batch.rows)
        self.thresholds = quantiles(inputs)
        self.inputs = inputs
        self.bins = digitise(inputs, self.thresholds)
        self.corrections = np.zeros(len(inputs)) if grown is None else grown.predict(inputs)
        self.pair_of_row = np.repeat(np.arange(len(self.batch.counts)), self.batch.counts)
        self.error = float("nan")

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
        self.corrections += Forest.of([tree], settings.depth).predict(self.inputs)
        return tree

    def _move_fork(self, slopes: Values, weights: Values, seconds: Values) -> None:
        shares = self.fork_seconds * self.batch.forks / seconds
        slope = float((slopes * shares).sum())
        weight = float((weights * shares**2).sum()) + 5.0
        self.fork_seconds *= float(np.exp(np.clip(-_STEP * slope / weight, -0.2, 0.2)))


@dataclass(frozen=True, eq=False)
class _Labels:
    """Schedules of programs with their measured speed-ups, as logarithms."""

    batch: _Batch
    speedups: Values
    censored: NDArray[np.bool_]

    @classmethod
    def of(cls, programs: Sequence[ProgramExamples]) -> _Labels:
        return cls(
            _Batch.of(with_shared_originals(programs)),
            np.log(np.concatenate([program.speedups for program in programs])),
            np.concatenate([program.censored for program in programs]),
        )

    def residuals(self, seconds: Values) -> Values:
        """By how much predicted speed-ups are too large; below a bound, nothing is wrong."""
        predicted = np.log(seconds[self.batch.originals] / seconds[: len(self.speedups)])
        found = predicted - self.speedups
        return np.where(self.censored, np.maximum(found, 0.0), found)


class _Judge:
    """Errors on programs that no tree is grown for."""

    def __init__(self, programs: Sequence[ProgramExamples]) -> None:
        self.labels = _Labels.of(programs) if programs else None
        self.error = self.best = float("inf")
        if self.labels is not None:
            self.inputs = _inputs(self.labels.batch.rows)
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
        self.best = min(self.best, self.error)


def _mape(residuals: Values, censored: NDArray[np.bool_]) -> float:
    certain = residuals[~censored]
    return float(np.abs(np.expm1(certain)).mean()) if len(certain) else float("nan")
