"""Base featuriser of recursive networks: loop tree, statements, tags, steps.

What depends on the program's structure only is computed once and shared by all schedules that have
this structure.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ....passes.estimate.scheduling_context import SchedulingContext
from ....passes.polyhedral.isl_context import ISL_LOCK
from ....passes.schedules.schedule import Schedule, Transformation
from .loop_structure import Computation, Shape, Structure, anchor, structure_of
from .statement_view import StatementView
from .step_events import Event, event_lists

Numbers = NDArray[np.float32]
Half = NDArray[np.float16]


@dataclass(frozen=True, eq=False)
class StructureFeatures:
    """What schedules of one structure share: rows are statements, in the order of the tree.

    `expressions` has the operations of each statement, one row per operation.
    """

    shape: Shape
    statements: Numbers
    expressions: tuple[Numbers, ...]


@dataclass(frozen=True, eq=False)
class TreeFeatures:
    """A schedule: tags of each statement, features of each loop, and the steps of each statement.

    `steps` has one row per step. Log-transformed values are small: half precision is enough.
    """

    structure: StructureFeatures
    tags: Half
    loops: Half
    steps: tuple[Half, ...]


@dataclass(frozen=True, eq=False)
class _Known:
    structure: Structure
    views: tuple[StatementView, ...]
    features: StructureFeatures


class TreeFeaturiser(ABC):
    """Featuriser of loop trees; subclasses define the vectors of statements, loops and steps."""

    @property
    @abstractmethod
    def schema(self) -> str:
        """Name and version."""

    @abstractmethod
    def describe_statement(self, view: StatementView) -> tuple[Numbers, Numbers]:
        """A statement by itself: its vector, and a matrix of its operations."""

    @abstractmethod
    def describe_tags(self, computation: Computation, events: Sequence[Event]) -> Numbers:
        """What the schedule does to a statement, as a vector."""

    @abstractmethod
    def describe_steps(self, computation: Computation, events: Sequence[Event]) -> Numbers:
        """What the schedule does to a statement, as a matrix of steps."""

    @abstractmethod
    def describe_loop(
        self, view: StatementView, computation: Computation, level: int, events: Sequence[Event]
    ) -> Numbers:
        """A loop, by the first statement in it."""

    def featurise(
        self, context: SchedulingContext, schedules: Sequence[Schedule]
    ) -> list[TreeFeatures]:
        """The features of each schedule of a program; raises Unsupported."""
        with ISL_LOCK:
            return [self._featurise(context, schedule) for schedule in schedules]

    def _featurise(self, context: SchedulingContext, schedule: Schedule) -> TreeFeatures:
        known = self._structure(context, anchor(schedule))
        scop = known.structure.schedule.scop
        by_name = event_lists(context, schedule, scop)
        computations = known.structure.computations
        events = [by_name[computation.statement] for computation in computations]
        loops: dict[int, Numbers] = {}
        for view, computation, own in zip(known.views, computations, events, strict=True):
            for level, number in enumerate(computation.loops):
                if number not in loops:
                    loops[number] = self.describe_loop(view, computation, level, own)
        pairs = list(zip(computations, events, strict=True))
        return TreeFeatures(
            known.features,
            _half([self.describe_tags(computation, own) for computation, own in pairs]),
            _half([loops[number] for number in range(known.structure.loops)]),
            tuple(
                self.describe_steps(computation, own).astype(np.float16)
                for computation, own in pairs
            ),
        )

    def _structure(self, context: SchedulingContext, schedule: Schedule) -> _Known:
        memory = cast(dict[object, _Known], schedule.program.memory.setdefault("structures", {}))
        key = _Key(self.schema, tuple(sorted(context.sizes.items())), schedule.transformations)
        if key not in memory:
            memory[key] = self._describe_structure(context, schedule)
        return memory[key]

    def _describe_structure(self, context: SchedulingContext, schedule: Schedule) -> _Known:
        structure = structure_of(context, schedule)
        statistics = context.statistics(schedule.scop)
        views = tuple(
            StatementView(statistics, statistics.statements[each.statement], each.levels)
            for each in structure.computations
        )
        rows = [self.describe_statement(view) for view in views]
        features = StructureFeatures(
            structure.shape,
            np.stack([vector for vector, _ in rows]),
            tuple(operations for _, operations in rows),
        )
        return _Known(structure, views, features)


@dataclass(frozen=True)
class _Key:
    schema: str
    sizes: tuple[tuple[str, int], ...]
    steps: tuple[Transformation, ...]


def _half(rows: Sequence[Numbers]) -> Half:
    return np.stack(rows).astype(np.float16) if rows else np.zeros((0, 0), np.float16)
