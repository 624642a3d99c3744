"""Application of transformations around one statement, for strategies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd
from typing import Any

from ..polyhedral.schedule_tree import loops_around
from ..polyhedral.scop import Array
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule, Transformation
from ..transformations.interchange import Interchange
from ..transformations.pack import Pack
from ..transformations.split import Split
from ..transformations.tile import Tile
from ..transformations.unroll import Unroll
from ..transformations.vectorize import Vectorize

MOST_PAIRS = 16
"""Rows of a block of short integers that is transposed in registers."""

MANY_REGISTERS = 32
"""Vector registers with which twice as many rows run side by side as with 16."""


def attempt(schedule: Schedule, step: Transformation) -> Schedule | None:
    """The transformed schedule; None where that is not possible."""
    try:
        return schedule.apply(step)
    except TransformationError:
        return None


def added_statements(before: Schedule, after: Schedule) -> tuple[str, ...]:
    """The names of the statements that steps have added to a program, in its order."""
    known = {statement.name for statement in before.scop.statements}
    return tuple(s.name for s in after.scop.statements if s.name not in known)


def split_parts(
    schedule: Schedule, statement: str, loop: str, places: Iterable[str]
) -> tuple[Schedule, list[str]]:
    """Splits a loop around a statement at places, in order; the statement's name in each part.

    Raises TransformationError.
    """
    parts = [statement]
    body = schedule.scop.statement(statement).body
    for at in places:
        split = schedule.apply(Split((f"{parts[-1]}.{loop}",), at=at))
        added = added_statements(schedule, split)
        parts += [each for each in added if split.scop.statement(each).body is body]
        schedule = split
    return schedule, parts


class Steps:
    """A schedule under construction, with the loops around one statement by their own names."""

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

    def pack_panels(
        self,
        loop: str,
        array: Array,
        cut: int,
        width: int,
        paired: int | None = None,
        first: int | None = None,
        **options: Any,
    ) -> str:
        """Copies an array into panels of `width` values of its subscript `cut`, in vectors.

        With `paired`, pairs of values of that subscript lie together in a panel. Each value of the
        subscript `first` has panels of its own. `options` are others of `Pack`. Returns the name of
        the outermost loop of the copy, inside of `loop`; raises TransformationError.
        """
        rank = len(array.shape)
        leading = (cut,) if first is None else (first, cut)
        order = (*leading, *(k for k in range(rank) if k not in leading))
        panels = tuple(width if k == cut else 2 if k == paired else 0 for k in range(rank))
        before = self.schedule
        self.step(Pack((self.name(loop),), array.name, order, panels, **options))
        copy = added_statements(before, self.schedule)[0]
        copied = [f"{copy}.{array.name}{k}" for k in range(rank)]
        lanes = self.schedule.target.lanes(array.element_type)
        if paired is not None:
            lanes = gcd(width, MOST_PAIRS)
        tiled, sizes = [copied[cut]], [width]
        if cut != rank - 1:
            # Blocks of neighbouring columns are transposed in registers.
            tiled, sizes = [copied[cut], copied[-1]], [width, lanes]
            if cut != rank - 2:
                others = [copied[k] for k in range(cut + 1, rank - 1)]
                self.step(Interchange((*others, *tiled)))
        elif paired is not None:
            tiled, sizes = [copied[paired], copied[cut]], [2, width]
            if paired != rank - 2:
                others = [copied[k] for k in range(rank - 1) if k != paired]
                self.step(Interchange((*others, *tiled)))
        self.step(Tile(tuple(tiled), tuple(sizes)))
        self.step(Unroll(tuple(tiled)))
        self.step(Vectorize((copied[cut],), lanes))
        around = [each.name for each in loops_around(self.schedule.tree, copy)]
        return f"{copy}.{around[around.index(loop) + 1]}"
