"""Strip-mining."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ..polyhedral.schedule_tree import Tree
from ..schedules.errors import MalformedTransformation
from ..schedules.schedule import Schedule, Transformation, option
from .tile import Tile


@dataclass(frozen=True)
class StripMine(Transformation):
    """Splits one loop into a loop over strips and a loop over the points of a strip.

    Names and values are those of a tile of one loop. `strip-mine{loops=i size=32}`:

        for i:          ->      for it:
          S                       for i in [32 * it, 32 * it + 32):
                                    S
    """

    name: ClassVar[str] = "strip-mine"
    symbol: ClassVar[str] = "M"

    size: int = option("values of the loop in a strip", keyword="by")
    names: tuple[str, ...] = option("the name of the loop over strips", default=())

    def resolve(self, schedule: Schedule) -> StripMine:
        if len(self.loops) != 1:
            raise MalformedTransformation("name one loop; tile splits several")
        tile = self._tile().resolve(schedule)
        return replace(self, loops=tile.loops, names=tile.names)

    def new_loops(self, schedule: Schedule) -> tuple[str, ...]:
        return self._tile().new_loops(schedule)

    def rewrite(self, schedule: Schedule) -> Tree:
        return self._tile().rewrite(schedule)

    def _tile(self) -> Tile:
        return Tile(self.loops, (self.size,), self.names)
