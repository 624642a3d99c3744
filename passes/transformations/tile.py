"""Loop tiling."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from ..polyhedral.identifiers import ArgumentNames
from ..polyhedral.schedule_tree import Loop, Tree, rebuild, replace_node
from ..schedules.errors import MalformedTransformation
from ..schedules.schedule import Schedule, Steps, Transformation, option
from ..schedules.tiling import check_names, check_sizes, strip_mine, tile_names
from .expand import expanded
from .skew import skewed


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

    A size may be a name: then it is an argument of the kernel, given with each call, and one
    compilation serves all sizes. `tile{loops=i,j sizes=Ti,Tj}` is legal if it is for every size.
    """

    name: ClassVar[str] = "tile"
    symbol: ClassVar[str] = "T{}"

    sizes: tuple[int | str, ...] = option(
        "one size per loop, in values of the loop: a number, or a name for a size at run time",
        keyword="by",
    )
    names: tuple[str, ...] = option("names of the tile loops", default=())

    @property
    def constants(self) -> tuple[int, ...]:
        """The sizes of a tiling that leaves none of them open."""
        return tuple(size for size in self.sizes if isinstance(size, int))

    def resolve(self, schedule: Schedule) -> Tile:
        step = super().resolve(schedule)
        members = schedule.chain(step.loops)
        named = schedule.find_loops(step.loops)
        if any(a is not b for a, b in zip(named, members, strict=True)):
            order = ",".join(schedule.short_name(loop) for loop in members)
            raise MalformedTransformation(f"name the loops outermost first: {order}")
        is_open = len(step.constants) < len(step.sizes)
        check_sizes(step.sizes, len(members), _names_of_arguments(schedule) if is_open else ())
        taken = schedule.taken_names(members[0])
        if step.names:
            check_names(step.names, len(members), taken)
        default = step.names == tile_names(members, taken)
        return replace(step, names=()) if default else step

    def new_loops(self, schedule: Schedule) -> tuple[str, ...]:
        members = schedule.chain(self.loops)
        return self.names or tile_names(members, schedule.taken_names(members[0]))

    def rewrite(self, schedule: Schedule) -> Tree:
        members = schedule.chain(self.loops)
        names = self.new_loops(schedule)
        parts = [_split(*part) for part in zip(members, names, self.sizes, strict=True)]
        band = (*(tile for tile, _ in parts), *(point for _, point in parts))
        return replace_node(schedule.tree, members[0], rebuild(band, members[-1].body))

    def repairs(self, schedule: Schedule) -> Iterator[Steps]:
        yield from expanded(schedule, self)
        yield from skewed(schedule, self)


def _split(loop: Loop, name: str, size: int | str) -> tuple[Loop, Loop]:
    """The tile loop, called `name`, and the point loop of a loop."""
    if isinstance(size, int):
        return strip_mine(loop, name, size)
    return Loop(name, loop.schedule, loop.body, run_time_size=size), replace(loop, within=None)


def _names_of_arguments(schedule: Schedule) -> set[str]:
    """What sizes at run time, which are arguments as well, must not be called."""
    scop = schedule.program
    return {*ArgumentNames.of(scop.func).arguments, *(p.name for p in scop.parameters)}
