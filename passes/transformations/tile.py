"""Tile loops that are directly inside each other."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass, replace
from typing import ClassVar

import islpy as isl

from ..schedule import Schedule
from ..schedule_tree import Loop, TileSize, Tree, rebuild, replace_node
from ..transformation import MalformedTransformation, Transformation, option


@dataclass(frozen=True)
class Tile(Transformation):
    """Splits loops of one chain into tile loops, outside, and point loops.

    Point loops keep their names and values; the tile loop of `i` runs over `floor(i / size)` and
    is called `it` (`it2`, `it3` ... when taken). `tile{loops=i,j sizes=32,16}`:

        for i:                  for it:
          for j:        ->        for jt:
            S                       for i in [32 * it, 32 * it + 32):
                                      for j in [16 * jt, 16 * jt + 16):
                                        S
    """

    name: ClassVar[str] = "tile"

    sizes: tuple[int, ...] = option("one size per loop, in values of the loop", keyword="by")
    names: tuple[str, ...] = option("names of the tile loops", default=())

    def resolve(self, schedule: Schedule) -> Tile:
        step = super().resolve(schedule)
        members = schedule.chain(step.loops)
        if any(a is not b for a, b in zip(schedule.find_loops(step.loops), members, strict=True)):
            order = ",".join(schedule.short_name(loop) for loop in members)
            raise MalformedTransformation(f"name the loops outermost first: {order}")
        _check_sizes(step.sizes, len(members))
        taken = schedule.taken_names(members[0])
        if step.names:
            _check_names(step.names, len(members), taken)
        default = step.names == _tile_names(members, taken)
        return replace(step, names=()) if default else step

    def new_loops(self, schedule: Schedule) -> tuple[str, ...]:
        members = schedule.chain(self.loops)
        return self.names or _tile_names(members, schedule.taken_names(members[0]))

    def rewrite(self, schedule: Schedule) -> Tree:
        members = schedule.chain(self.loops)
        parts = [
            _strip_mine(loop, name, size)
            for loop, name, size in zip(members, self.new_loops(schedule), self.sizes, strict=True)
        ]
        band = (*(tile for tile, _ in parts), *(point for _, point in parts))
        return replace_node(schedule.tree, members[0], rebuild(band, members[-1].body))


def _strip_mine(loop: Loop, name: str, size: int) -> tuple[Loop, Loop]:
    schedule = {
        statement: aff.scale_down_val(isl.Val(size)).floor()
        for statement, aff in loop.schedule.items()
    }
    outer = loop.within
    nested = outer is not None and outer.size % size == 0
    within = TileSize(outer.tile, outer.size // size) if nested and outer else None
    tile = Loop(name, schedule, loop.body, within=within)
    return tile, replace(loop, within=TileSize(name, size))


def _tile_names(members: tuple[Loop, ...], taken: set[str]) -> tuple[str, ...]:
    names: list[str] = []
    for loop in members:
        names.append(_free_name(f"{loop.name}t", taken | set(names)))
    return tuple(names)


def _free_name(base: str, taken: Container[str]) -> str:
    name, number = base, 2
    while name in taken:
        name, number = f"{base}{number}", number + 1
    return name


def _check_sizes(sizes: tuple[int, ...], count: int) -> None:
    if len(sizes) != count:
        raise MalformedTransformation(f"give one size per loop: {count}, not {len(sizes)}")
    for size in sizes:
        if size < 1:
            raise MalformedTransformation(f"a tile size must be at least 1, not {size}")


def _check_names(names: tuple[str, ...], count: int, taken: set[str]) -> None:
    if len(names) != count or len(set(names)) != count:
        raise MalformedTransformation(f"give {count} different names, one per tile loop")
    for name in names:
        if not re.fullmatch(r"[A-Za-z]\w*(?<!_\d)", name, re.ASCII):
            raise MalformedTransformation(
                f"{name!r} cannot be a name: use letters, digits and _, without a number after _"
            )
        if name in taken:
            raise MalformedTransformation(f"the name {name} is taken; choose another")
