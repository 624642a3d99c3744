"""Budget of work for candidates: applied steps, not time, so that the answer is always the same."""

from __future__ import annotations

from collections.abc import Iterable

from ..schedules.schedule import Transformation
from .schedule_key import rewrites_program

REWRITING = 40
"""A step that changes the program counts as so many others: its dependences are computed anew."""


class Work:
    """Counts the steps that are applied to make candidates, up to a limit."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.spent = 0

    def spend(self, steps: Iterable[Transformation]) -> bool:
        """Counts steps if the limit allows; whether it does."""
        cost = sum(REWRITING if rewrites_program(step) else 1 for step in steps)
        if self.spent + cost > self.limit:
            return False
        self.spent += cost
        return True
