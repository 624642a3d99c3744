"""Model `additive`: sum over statements of estimated times, corrected by boosted trees.

What a program takes is the sum of what its statements take under their loops, and of what it takes
to start parallel loops. Boosted trees learn by which factor the estimate of each statement is
wrong, though only whole programs were measured: the error of a program is handed down to its
statements by their shares of the time. The program as written goes through the same trees, so
what is wrong in the same way before and after a schedule cancels out of the speed-up.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ..learning.errors import LearningError
from ..learning.examples import ProgramExamples
from .boosting import AdditiveOptions, Boosting, Growing
from .forest import Forest, Tree, Values
from .learned_model import LearnedModel, TrainingOptions, TrainingProgress
from .model_options import read_options
from .statement_rows import ScheduleBatch, ScheduleRows, StatementRows, tree_inputs
from .unique_rows import unique_rows

_ADAPTING = 60
_ADAPTING_RATE = 0.05
_ADAPTING_SMOOTHING = 20.0
"""Trees that are added for another machine; small steps keep few programs from deciding much."""


class Additive(LearnedModel):
    """The model `additive`."""

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
        batch = ScheduleBatch.of(features)
        seconds = self._seconds(batch)
        return seconds[batch.originals] / seconds[: len(features)]

    def _seconds(self, batch: ScheduleBatch) -> Values:
        inputs = tree_inputs(batch.rows)
        unique, inverse = unique_rows(inputs)
        corrections = self.forest.predict(inputs[unique])[inverse]
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
        forests: list[Growing] = []
        try:
            for member in range(settings.members):
                own = _part(options, member, settings)
                forests.append(Growing(training, validation, settings, own, self.fork_seconds))
                forests[-1].run()
        finally:
            whole = [each.best for each in forests if each.is_finished]
            if forests and not whole:
                whole = [forests[0].best]
            self._take(whole)

    def _take(self, forests: Sequence[tuple[Sequence[Tree], float]]) -> None:
        """The mean of some forests, and of what a fork takes by each."""
        if not forests:
            return
        parts = [
            dataclasses.replace(tree, values=tree.values / len(forests))
            for trees, _ in forests
            for tree in trees
        ]
        self.forest = Forest.of(parts, self.options.depth)
        self.fork_seconds = float(np.mean([fork_seconds for _, fork_seconds in forests]))

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
        boosting = Boosting(programs, settings, options.seed, self.fork_seconds, self.forest)
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

    def state(self) -> Mapping[str, Any]:
        """The trees, and how long it takes to start a parallel loop."""
        return {"fork_seconds": self.fork_seconds, **self.forest.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Takes over what `state` has given."""
        self.fork_seconds = float(state["fork_seconds"])
        self.forest = Forest.restored(state)


def _part(options: TrainingOptions, member: int, settings: AdditiveOptions) -> TrainingOptions:
    """How one of several forests is grown, and how far all are then."""

    def report(progress: TrainingProgress) -> None:
        options.report(
            dataclasses.replace(
                progress,
                epoch=member * settings.trees + progress.epoch,
                epochs=settings.members * settings.trees,
            )
        )

    own = options.of_part(str(member), options.seed + member)
    return dataclasses.replace(own, report=report)
