"""Loop interchange (permutation of a chain of loops)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..polyhedral.schedule_tree import Loop, Tree, chain, rebuild, replace_node
from ..schedules.errors import MalformedTransformation
from ..schedules.schedule import Schedule, Steps, Transformation
from .expand import expanded
from .skew import skewed


@dataclass(frozen=True)
class Interchange(Transformation):
    """Permutes loops of one chain into the given order.

    `interchange{loops=i,k,j}`:

        for i:                  for i:
          for j:        ->        for k:
            for k:                  for j:
              S                       S
    """

    name: ClassVar[str] = "interchange"
    symbol: ClassVar[str] = "I"
    takes_run_time_tiles: ClassVar[bool] = True

    @classmethod
    def from_symbol(cls, schedule: Schedule, loops: tuple[Loop, ...]) -> tuple[Loop, ...]:
        """`I(L0,L2)` swaps two loops; those between them stay where they are."""
        if len(loops) != 2 or loops[0] is loops[1]:
            raise MalformedTransformation("I swaps two loops; interchange(...) gives a new order")
        depths = sorted(len(schedule.outer(loop)) for loop in loops)
        outer, inner = sorted(loops, key=lambda loop: len(schedule.outer(loop)))
        members = chain(outer)[: depths[1] - depths[0] + 1]
        if members[-1] is not inner:
            raise MalformedTransformation(
                f"{outer.name}, {inner.name} are not in one chain of directly nested loops"
            )
        return (inner, *members[1:-1], outer)

    def to_symbol(self, schedule: Schedule) -> tuple[Loop, ...] | None:
        old, new = schedule.chain(self.loops), schedule.find_loops(self.loops)
        moved = [n for n, (a, b) in enumerate(zip(old, new, strict=True)) if a is not b]
        return (old[0], old[-1]) if moved == [0, len(old) - 1] else None

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

    def repairs(self, schedule: Schedule) -> Iterator[Steps]:
        yield from expanded(schedule, self)
        yield from skewed(schedule, self)
