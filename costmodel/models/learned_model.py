"""Base class of learned cost models: training, prediction, storage."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...passes.estimate.scheduling_context import SchedulingContext
from ...passes.schedules.schedule import Schedule
from ..learning.errors import LearningError
from ..learning.examples import Featuriser, ProgramExamples

LOWEST = 1e-3
"""Predictions below this are cut off: a speed-up is positive."""


@dataclass(frozen=True)
class TrainingProgress:
    """Progress of a training: errors as fractions, `best` that of the best state so far."""

    epoch: int
    epochs: int
    training_error: float
    validation_error: float
    best: float


@dataclass(frozen=True)
class TrainingOptions:
    """Training options common to all models; a model ignores those that do not apply.

    None stands for the model's own default. `checkpoint` is a file that the state of the training
    is kept in, or a folder where the model has several parts; with `resume` it goes on from there,
    if `identity`, the model and its options, is still the same. `report` is told about every epoch.
    """

    epochs: int | None = None
    learning_rate: float | None = None
    seed: int = 0
    device: str = "cpu"
    patience: int | None = None
    batch: int | None = None
    checkpoint: Path | None = None
    resume: bool = False
    identity: str = ""
    report: Callable[[TrainingProgress], None] = lambda progress: None

    def of_part(self, name: str, seed: int) -> TrainingOptions:
        """How a part of a model is trained; it goes on where it has been begun."""
        if self.checkpoint is None:
            return replace(self, seed=seed)
        own = self.checkpoint / name
        return replace(self, seed=seed, checkpoint=own, resume=self.resume and own.exists())


class LearnedModel(ABC):
    """A cost model with parameters learned from labels; a `CostModel` for searches.

    `configuration` is plain data from which, with `state()`, the model can be made again.
    """

    name: ClassVar[str]

    trained: ClassVar[Path | None] = None
    """The file of a trained model that comes with the class; None where each user trains one."""

    workload: ClassVar[str] = "random"
    """The workload of `loopwright data generate` that makes the labels to learn from."""

    sees_machine: ClassVar[bool] = False
    """Whether it can learn from several machines together, as its features tell them apart."""

    sees_fast_math: ClassVar[bool] = False
    """Whether it can learn from labels with fast math, as its features tell these apart."""

    trains_with: ClassVar[str | None] = None
    """The package that `fit` needs and that not every installation has."""

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        """A model that has learned nothing yet; raises LearningError for unknown options."""
        self.configuration = dict(configuration)

    @property
    @abstractmethod
    def featuriser(self) -> Featuriser:
        """What makes the features of this model."""

    @abstractmethod
    def fit(
        self,
        training: Sequence[ProgramExamples],
        validation: Sequence[ProgramExamples],
        options: TrainingOptions,
    ) -> None:
        """Learns; keeps the state that is best on `validation`, also when interrupted (Ctrl-C).

        Raises LearningError; KeyboardInterrupt, with the best state kept.
        """

    def adapt(self, programs: Sequence[ProgramExamples], options: TrainingOptions) -> None:
        """Learns what is different on another machine; raises LearningError."""
        raise LearningError(
            f"the model {self.name} cannot be adapted: train it on labels of this machine"
        )

    @abstractmethod
    def score(self, features: Sequence[Any]) -> NDArray[np.float64]:
        """The predicted speed-ups of schedules, of any programs, from their features."""

    @abstractmethod
    def state(self) -> Mapping[str, Any]:
        """What was learned: numbers, texts, tensors, and lists and dictionaries of these."""

    @abstractmethod
    def restore(self, state: Mapping[str, Any]) -> None:
        """Takes over what `state` has given."""

    def figures(self, programs: Sequence[ProgramExamples]) -> Mapping[str, float]:
        """What this kind of model is judged by, beside errors and rankings; none by default."""
        return {}

    def predict(self, context: SchedulingContext, schedules: Sequence[Schedule]) -> Sequence[float]:
        """The speed-up of each schedule over its program as written; raises Unsupported."""
        if not schedules:
            return []
        found = self.score(self.featuriser.featurise(context, schedules))
        return np.maximum(found, LOWEST).tolist()

    @classmethod
    def restored(cls, configuration: Mapping[str, Any], state: Mapping[str, Any]) -> Self:
        """A model that was stored."""
        model = cls(configuration)
        model.restore(state)
        return model
