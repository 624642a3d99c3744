"""Base class of interchange models."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ....passes.estimate.scheduling_context import SchedulingContext
from ....passes.polyhedral.isl_context import ISL_LOCK
from ....passes.polyhedral.schedule_tree import Tree, loops, nests
from ....passes.schedules.schedule import Schedule
from ....passes.search.space.loop_pairs import Levels, interchanges_by_levels
from ...learning.examples import ProgramExamples, Unsupported
from ...models.learned_model import LearnedModel
from .accuracy import accuracies
from .classes import CLASSES, NONE, class_of


@dataclass(frozen=True, eq=False)
class Interchanged:
    """An interchange of a nest: the nest's features, and the number of the class."""

    nest: Any
    number: int


class NestDescription(Protocol):
    """Computes the features of a nest before interchange; can be sent to other processes."""

    @property
    def schema(self) -> str:
        """Name and version of the features."""
        ...

    def describe(self, context: SchedulingContext, schedule: Schedule, nest: Tree) -> Any:
        """The features of a top-level nest; raises Unsupported."""
        ...


@dataclass(frozen=True)
class InterchangeFeaturiser:
    """Featuriser of the interchanges of single-nest programs."""

    description: NestDescription

    @property
    def schema(self) -> str:
        """That of the nests."""
        return self.description.schema

    def featurise(
        self, context: SchedulingContext, schedules: Sequence[Schedule]
    ) -> list[Interchanged]:
        """The class of each schedule, and the nest; raises Unsupported for other schedules."""
        if not schedules:
            return []
        program = schedules[0].program
        original = Schedule.original(program, schedules[0].target)
        if len(nests(original.tree)) != 1:
            raise Unsupported("more than one nest")
        numbers = {_order(original.tree): NONE}
        with ISL_LOCK:
            for levels, move in interchanges_by_levels(original.tree).items():
                changed = move.apply(original)
                if changed is not None:
                    numbers[_order(changed.tree)] = class_of(levels)
        found = [numbers.get(_order(schedule.tree)) for schedule in schedules]
        if None in found:
            raise Unsupported("schedules of other kinds than an interchange of two levels")
        nest = self.description.describe(context, original, original.tree)
        return [Interchanged(nest, number) for number in found if number is not None]


def _order(tree: Tree) -> tuple[str, ...]:
    """What tells the interchanges of a program apart: names and marks of its loops."""
    return tuple(
        f"{loop.name} {loop.parallel} {loop.vector} {loop.unroll} {loop.within}"
        for loop in loops(tree)
    )


class InterchangeModel(LearnedModel):
    """Rates all interchanges of two loops of a nest at once."""

    workload: ClassVar[str] = "interchange"

    @property
    @abstractmethod
    def description(self) -> NestDescription:
        """What makes the features of a nest."""

    @abstractmethod
    def ratings(self, nests: Sequence[Any]) -> NDArray[np.float64]:
        """How good classes are for nests: (nests, shots, classes); see `classes.answers`."""

    @property
    def featuriser(self) -> InterchangeFeaturiser:
        """Nests and classes."""
        return InterchangeFeaturiser(self.description)

    def score(self, features: Sequence[Any]) -> NDArray[np.float64]:
        """How much better each interchange is rated than none, as a factor."""
        rated = self.ratings([each.nest for each in features])[:, 0]
        numbers = [each.number for each in features]
        return np.exp(rated[np.arange(len(numbers)), numbers] - rated[:, NONE])

    def figures(self, programs: Sequence[ProgramExamples]) -> Mapping[str, float]:
        """Accuracy with one shot, with two, with any."""
        return accuracies(programs, self.ratings([each.features[0].nest for each in programs]))

    def rate(
        self, context: SchedulingContext, schedule: Schedule, nest: Tree
    ) -> Sequence[Mapping[Levels | None, float]]:
        """For every shot the rating of each pair of levels of a top-level nest; None: of none.

        Nothing for nests that the model has no features for.
        """
        try:
            features = self.description.describe(context, schedule, nest)
        except Unsupported:
            return []
        return [
            dict(zip(CLASSES, shot, strict=True)) for shot in self.ratings([features])[0].tolist()
        ]
