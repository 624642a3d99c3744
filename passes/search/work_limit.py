"""Limit of work for candidates: applied steps, not time, so that the answer is always the same."""

from __future__ import annotations

from collections.abc import Iterable

from ..schedules.schedule import Transformation
from .schedule_key import rewrites_program

REWRITING = 60
"""A step that changes the program counts as so many others: its dependences are computed anew."""

MANY = 12
"""Statements for which a step counts once more."""


class WorkLimit:
    """Counts the steps that are applied to make candidates of a program, up to a limit."""

    def __init__(self, limit: int, statements: int) -> None:
        self.limit = limit
        self.spent = 0
        self._step = 1 + statements // MANY

    def spend(self, steps: Iterable[Transformation]) -> bool:
        """Counts steps if the limit allows; whether it does."""
        cost = sum(REWRITING if rewrites_program(step) else self._step for step in steps)
        if self.spent + cost > self.limit:
            return False
        self.spent += cost
        return True
