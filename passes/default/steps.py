"""Applying steps around one statement, as the strategies do."""

from __future__ import annotations

from collections.abc import Sequence

from ..schedule import Schedule
from ..transformation import Transformation, TransformationError
from ..transformations.interchange import Interchange
from ..transformations.tile import Tile


def attempt(schedule: Schedule, step: Transformation) -> Schedule | None:
    """The transformed schedule; None where that is not possible."""
    try:
        return schedule.apply(step)
    except TransformationError:
        return None


class Steps:
    """A schedule that steps change, with the loops around one statement by their own names."""

    def __init__(self, schedule: Schedule, statement: str) -> None:
        self.schedule = schedule
        self.statement = statement

    def name(self, loop: str) -> str:
        """The loop around the statement, so that it is found when others have the same name."""
        return f"{self.statement}.{loop}"

    def step(self, transformation: Transformation) -> None:
        """Applies one step; raises TransformationError."""
        self.schedule = self.schedule.apply(transformation)

    def interchange(self, order: Sequence[str]) -> None:
        """Puts loops of one chain into an order, if they are not; raises TransformationError."""
        names = tuple(self.name(loop) for loop in order)
        if [loop.name for loop in self.schedule.chain(names)] != list(order):
            self.step(Interchange(names))

    def make_tiles(self, loops: Sequence[str], sizes: Sequence[int]) -> tuple[str, ...]:
        """Tiles loops; the names of the tile loops. Raises TransformationError."""
        tile = Tile(tuple(self.name(loop) for loop in loops), tuple(sizes))
        names = tile.new_loops(self.schedule)
        self.step(tile)
        return names
