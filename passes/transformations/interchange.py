"""Permute loops that are directly inside each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..schedule import Schedule
from ..schedule_tree import Tree, rebuild, replace_node
from ..transformation import MalformedTransformation, Transformation


@dataclass(frozen=True)
class Interchange(Transformation):
    """Puts loops of one chain into the given order.

    `interchange{loops=i,k,j}`:

        for i:                  for i:
          for j:        ->        for k:
            for k:                  for j:
              S                       S
    """

    name: ClassVar[str] = "interchange"

    def rewrite(self, schedule: Schedule) -> Tree:
        if len(self.loops) < 2:
            raise MalformedTransformation("name at least two loops, in their new order")
        old = schedule.chain(self.loops)
        new = tuple(schedule.loop(name) for name in self.loops)
        seen: set[str] = set()
        for loop in new:
            seen.add(loop.name)
            tile = loop.within
            if tile and tile.tile in {other.name for other in new} - seen:
                raise MalformedTransformation(
                    f"loop {loop.name} must stay inside its tile loop {tile.tile}"
                )
        return replace_node(schedule.tree, old[0], rebuild(new, old[-1].body))
