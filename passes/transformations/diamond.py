"""Diamond tiling of a time and a space loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import islpy as isl

from ..polyhedral.schedule_tree import Loop, Tree, rebuild, replace_node
from ..schedules.errors import MalformedTransformation
from ..schedules.schedule import Schedule, Transformation, option
from ..schedules.tiling import check_names, check_sizes, tile_names

# Steps in space per step in time, from the narrowest to the widest diamonds that are tried.
_SLOPES = range(9)


@dataclass(frozen=True)
class Diamond(Transformation):
    """Tiles two loops along the two faces of the dependence cone.

    With `u = a * t + i` and `v = b * t - i`, neither of which decreases along a dependence (a and b
    are the smallest ones, statements are shifted as is needed), the outer new loop runs over
    `u floordiv size + v floordiv size`, the inner one over `u floordiv size`. All iterations of the
    inner one are independent: unlike wavefronts of skewed tiles, they are many from the start
    (Bandishti, Pananilath, Bondhugula, "Tiling stencil computations to maximize parallelism",
    SC 2012). `diamond{loops=t,i size=32}`:

        for t:                  for tt:
          for i:        ->        for it:
            S                       for t, i in a diamond:
                                      S
    """

    name: ClassVar[str] = "diamond"
    symbol: ClassVar[str] = "DT"

    size: int = option("length of a diamond's faces", keyword="by")
    names: tuple[str, ...] = option("names of the two new loops", default=())

    def resolve(self, schedule: Schedule) -> Diamond:
        step = super().resolve(schedule)
        members = _members(schedule, step.loops)
        check_sizes((self.size,), 1)
        taken = schedule.taken_names(members[0])
        if step.names:
            check_names(step.names, 2, taken)
        default = step.names == tile_names(members, taken)
        return replace(step, names=()) if default else step

    def new_loops(self, schedule: Schedule) -> tuple[str, ...]:
        members = _members(schedule, self.loops)
        return self.names or tile_names(members, schedule.taken_names(members[0]))

    def rewrite(self, schedule: Schedule) -> Tree:
        time, space = members = _members(schedule, self.loops)
        distances = _Distances(schedule, time)
        forward = distances.cone(time.schedule, space.schedule)
        backward = distances.cone(
            time.schedule, {name: aff.neg() for name, aff in space.schedule.items()}
        )
        faces = [
            {name: aff.scale_down_val(isl.Val(self.size)).floor() for name, aff in face.items()}
            for face in (forward, backward)
        ]
        outer, inner = self.new_loops(schedule)
        sums = {name: aff.add(faces[1][name]) for name, aff in faces[0].items()}
        band = (
            Loop(outer, sums, time),
            Loop(inner, faces[0], time),
            *(replace(loop, within=None) for loop in members),
        )
        return replace_node(schedule.tree, time, rebuild(band, space.body))


def _members(schedule: Schedule, names: tuple[str, ...]) -> tuple[Loop, Loop]:
    if len(names) != 2:
        raise MalformedTransformation("name two loops: time, and one dimension of space")
    time, space = schedule.chain(names)
    if schedule.find_loops(names)[0] is not time:
        raise MalformedTransformation(f"name the outer loop first: {time.name},{space.name}")
    return time, space


class _Distances:
    """Dependence distances in the schedule functions, inside an iteration of the outer loops."""

    def __init__(self, schedule: Schedule, loop: Loop) -> None:
        parts = schedule.legality.active(schedule.functions_around(loop)).get_map_list()
        maps = [parts.get_at(number) for number in range(parts.n_map())]
        self.names = tuple(loop.schedule)
        self.pairs = [
            (source, target, part)
            for part in maps
            if (source := part.get_tuple_name(isl.dim_type.in_)) in self.names
            and (target := part.get_tuple_name(isl.dim_type.out)) in self.names
        ]

    def cone(self, time: Mapping[str, isl.Aff], space: Mapping[str, isl.Aff]) -> dict[str, isl.Aff]:
        """`a * time + space`, with statements shifted, that does not decrease; a is the least."""
        for slope in _SLOPES:
            face = {
                name: aff.add(time[name].scale_val(isl.Val(slope))) for name, aff in space.items()
            }
            shifts = self._shifts(face)
            if shifts is not None:
                return {n: aff.add_constant_val(isl.Val(shifts[n])) for n, aff in face.items()}
        raise MalformedTransformation(
            "no diamond has all dependences inside: they have no bounded slope in these loops"
        )

    def _shifts(self, face: Mapping[str, isl.Aff]) -> dict[str, int] | None:
        """The smallest numbers, from 0 up, to add such that it does not decrease, if any."""
        needed: list[tuple[str, str, int]] = []
        for source, target, part in self.pairs:
            steps = part.apply_domain(isl.Map.from_aff(face[source]))
            least = steps.apply_range(isl.Map.from_aff(face[target])).deltas().dim_min_val(0)
            if not least.is_int():
                return None
            needed.append((source, target, least.to_python()))
        shifts = dict.fromkeys(self.names, 0)
        # Longest paths: what still changes after one round per statement would grow for ever.
        for _ in range(len(self.names) + 1):
            before = dict(shifts)
            for source, target, least in needed:
                shifts[target] = max(shifts[target], shifts[source] - least)
            if shifts == before:
                return shifts
        return None
