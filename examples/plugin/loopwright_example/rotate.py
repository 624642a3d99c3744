"""Rotate a chain of loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from loopwright.passes.polyhedral.schedule_tree import Tree, rebuild, replace_node
from loopwright.passes.schedules.errors import MalformedTransformation
from loopwright.passes.schedules.schedule import Schedule, Transformation


@dataclass(frozen=True)
class Rotate(Transformation):
    """Makes the innermost loop of a chain the outermost one.

    `rotate{loops=i,j,k}`:

        for i:                  for k:
          for j:        ->        for i:
            for k:                  for j:
              S                       S
    """

    name: ClassVar[str] = "rotate"

    def rewrite(self, schedule: Schedule) -> Tree:
        """The tree with the loops in their new order, legal or not: loopwright checks that."""
        if len(self.loops) < 2:
            raise MalformedTransformation("name at least two loops")
        *outer, innermost = schedule.chain(self.loops)
        first = outer[0]
        return replace_node(schedule.tree, first, rebuild((innermost, *outer), innermost.body))
