"""A budget of work for candidates: applied steps, not time, so that the same answer comes every time."""

from __future__ import annotations

from collections.abc import Iterable

from ..schedules.schedule import Schedule, Transformation

REWRITING = 40
"""A step that changes the program counts as so many others: its dependences are computed anew."""


class Work:
    """Counts the steps that are applied to make candidates, up to a limit."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.spent = 0

    def spend(self, steps: Iterable[Transformation]) -> bool:
        """Counts steps if the limit allows; whether it does."""
        cost = sum(REWRITING if _rewrites(step) else 1 for step in steps)
        if self.spent + cost > self.limit:
            return False
        self.spent += cost
        return True


def _rewrites(step: Transformation) -> bool:
    return type(step).rewrite_program is not Transformation.rewrite_program
