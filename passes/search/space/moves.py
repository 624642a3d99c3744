"""Moves: short sequences of transformations, and their application."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ...estimate.scheduling_context import SchedulingContext
from ...polyhedral.isl_context import ISL_LOCK
from ...polyhedral.schedule_tree import Tree
from ...schedules.errors import TransformationError
from ...schedules.schedule import Schedule, Transformation


@dataclass(frozen=True)
class Move:
    """Transformations to apply in order, with unambiguous loop names.

    A move that is `partial` makes those of its steps that are legal, at least one.
    """

    steps: tuple[Transformation, ...]
    partial: bool = False

    def apply(self, schedule: Schedule) -> Schedule | None:
        """The schedule after the move; None where it is not legal."""
        result = schedule
        for step in self.steps:
            try:
                result = result.apply(step)
            except TransformationError:
                if not self.partial:
                    return None
        return None if result is schedule else result


def changes(schedule: Schedule, moves: Iterator[Move]) -> Iterator[Schedule]:
    """The schedules that legal moves lead to. Proposing uses isl, too."""
    while True:
        with ISL_LOCK:
            move = next(moves, None)
            changed = None if move is None else move.apply(schedule)
        if move is None:
            return
        if changed is not None:
            yield changed


Proposer = Callable[[Schedule, Tree, SchedulingContext], Iterator[Move]]
"""Proposes moves, legal or not, for a part of a schedule's tree: a nest, or all of it."""


def one(step: Transformation) -> Move:
    """A move of a single step."""
    return Move((step,))
