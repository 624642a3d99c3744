"""Loop fusion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

import islpy as isl

from ..polyhedral.schedule_tree import (
    Leaf,
    Loop,
    Sequence,
    TileSize,
    Tree,
    loops,
    path,
    replace_node,
    sequence,
    statements,
    union_schedule,
)
from ..schedules.errors import MalformedTransformation
from ..schedules.program_edits import free_name
from ..schedules.schedule import Schedule, Steps, Transformation, option
from ..schedules.tiling import reschedule
from .shift import shifted_loops


@dataclass(frozen=True)
class Fuse(Transformation):
    """Fuses adjacent loops into one, which is named as the first of them.

    (Where a loop inside is called so, by that name with a number: `i2`.) Iterations of the same
    value run together. With `shift=auto`, the values of each loop grow by the smallest number, from
    0 up, with which nothing runs before what it depends on.
    `fuse{loops=S0.i,S1.i}`:

        for i:                  for i:
          S0[i]                   S0[i]
        for i:          ->        S1[i]
          S1[i]
    """

    name: ClassVar[str] = "fuse"
    symbol: ClassVar[str] = "F"

    shift: str = option("none, or auto: shift the loops as far as is needed", default="none")

    def rewrite(self, schedule: Schedule) -> Tree:
        if self.shift not in _SHIFTS:
            raise MalformedTransformation(
                f"the shift is {' or '.join(_SHIFTS)}, not {self.shift!r}"
            )
        members = schedule.find_loops(self.loops)
        if len(members) < 2:
            raise MalformedTransformation("name at least two loops, in the order in which they run")
        parent = _parent(schedule.tree, members)
        start = next(n for n, child in enumerate(parent.children) if child is members[0])
        before, after = parent.children[:start], parent.children[start + len(members) :]
        if self.shift == "auto":
            members = _shifted(schedule, members, parent)
        around = {loop.name for loop in schedule.outer(parent)}
        new = sequence((*before, _fuse(members, around), *after))
        return replace_node(schedule.tree, parent, new)

    def repairs(self, schedule: Schedule) -> Iterator[Steps]:
        yield from shifted_loops(self)
        yield (replace(self, shift="auto"),)


_SHIFTS = ("none", "auto")


def _shifted(schedule: Schedule, members: tuple[Loop, ...], parent: Sequence) -> tuple[Loop, ...]:
    """The loops, shifted so far that their dependences stay forward when they are fused."""
    active = schedule.legality.active(schedule.functions_around(parent))
    shifts: list[int] = []
    for number, loop in enumerate(members):
        needed = 0
        for other, shift in zip(members[:number], shifts, strict=True):
            distance = _largest_step_back(active, other, loop)
            if distance is not None:
                needed = max(needed, shift + distance)
        shifts.append(needed)
    return tuple(
        reschedule(
            loop, {name: aff.add_constant_val(isl.Val(n)) for name, aff in loop.schedule.items()}
        )
        if n
        else loop
        for loop, n in zip(members, shifts, strict=True)
    )


def _largest_step_back(active: isl.UnionMap, first: Loop, second: Loop) -> int | None:
    """How much smaller the second loop's value can be than the first one's in a dependence.

    None where there is no dependence from the first to the second. Raises
    MalformedTransformation where this has no bound.
    """
    source, target = union_schedule(first), union_schedule(second)
    steps = active.apply_domain(isl.UnionMap.from_multi_union_pw_aff(source)).apply_range(
        isl.UnionMap.from_multi_union_pw_aff(target)
    )
    if steps.is_empty():
        return None
    back = isl.Map.from_union_map(steps).reverse().deltas().dim_max_val(0)
    if not back.is_int():
        raise MalformedTransformation(
            f"no constant shift keeps {second.name} of {statements(second)[0]} behind "
            f"{first.name} of {statements(first)[0]}: their distance grows with the sizes"
        )
    return back.to_python()


def _parent(tree: Tree, members: tuple[Loop, ...]) -> Sequence:
    nodes = path(tree, members[0])
    parent = nodes[-2] if len(nodes) > 1 else None
    siblings = parent.children if isinstance(parent, Sequence) else ()
    positions = [
        next((n for n, child in enumerate(siblings) if child is loop), None) for loop in members
    ]
    numbers = [position for position in positions if position is not None]
    if (
        not isinstance(parent, Sequence)
        or len(numbers) < len(members)
        or any(right != left + 1 for left, right in pairwise(numbers))
    ):
        raise MalformedTransformation("these loops do not directly follow each other")
    return parent


def _fuse(members: tuple[Loop, ...], around: set[str]) -> Loop:
    first = members[0]
    inside = {inner.name for loop in members for inner in loops(loop.body)}
    name = first.name if first.name not in inside else free_name(first.name, inside | around)
    bodies: list[Tree] = []
    for loop in members:
        for mark in ("parallel", "vector", "unroll"):
            if getattr(loop, mark) != getattr(first, mark):
                raise MalformedTransformation("some of the loops are marked and others are not")
        bodies.append(_rename_tile(loop.body, loop.name, name))
    within = first.within if all(loop.within == first.within for loop in members) else None
    schedule = {name: aff for loop in members for name, aff in loop.schedule.items()}
    return replace(first, name=name, schedule=schedule, within=within, body=sequence(bodies))


def _rename_tile(tree: Tree, old: str, new: str) -> Tree:
    match tree:
        case Loop(within=within, body=body):
            if within is not None and within.tile == old:
                within = TileSize(new, within.size)
            return replace(tree, within=within, body=_rename_tile(body, old, new))
        case Sequence(children):
            return Sequence(tuple(_rename_tile(child, old, new) for child in children))
        case Leaf():
            return tree
