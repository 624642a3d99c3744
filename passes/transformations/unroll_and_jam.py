"""Unroll-and-jam (register tiling of an outer loop)."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import ClassVar

import islpy as isl

from ..polyhedral.schedule_tree import Leaf, Loop, Sequence, Tree, replace_node, statements
from ..schedules.errors import MalformedTransformation
from ..schedules.schedule import Schedule, Steps, Transformation, option
from ..schedules.tiling import check_names, strip_mine, tile_names
from .expand import expanded
from .skew import skewed


@dataclass(frozen=True)
class UnrollAndJam(Transformation):
    """Unrolls a loop by `factor` and jams the copies innermost, where they share loads.

    The loop `it` over strips of `factor` values stays where `i` was; the loop over the values of a
    strip moves into all loops inside, though not into vector loops, and is unrolled. Strips of a
    parallel loop are parallel. The copies of what runs once in an inner loop, as the beginning of a
    sum, are next to each other.
    `unroll-and-jam{loops=i factor=4}`:

        for i:                  for i in steps of 4:
          for j:        ->        for j:
            S[i, j]                 S[i, j]; S[i + 1, j]; S[i + 2, j]; S[i + 3, j]
    """

    name: ClassVar[str] = "unroll-and-jam"
    symbol: ClassVar[str] = "J"

    factor: int = option("unroll factor", keyword="by")
    names: tuple[str, ...] = option("the name of the loop over strips", default=())

    def resolve(self, schedule: Schedule) -> UnrollAndJam:
        if len(self.loops) != 1:
            raise MalformedTransformation("name one loop")
        if self.factor < 2:
            raise MalformedTransformation(f"the factor must be at least 2, not {self.factor}")
        step = super().resolve(schedule)
        loop = schedule.loop(step.loops[0])
        for mark in _MARKS:
            if getattr(loop, mark) is not None:
                raise MalformedTransformation(
                    f"loop {loop.name} is {_MARKS[mark]}: apply unroll-and-jam before"
                )
        taken = schedule.taken_names(loop)
        if step.names:
            check_names(step.names, 1, taken)
        default = step.names == tile_names((loop,), taken)
        return replace(step, names=()) if default else step

    def new_loops(self, schedule: Schedule) -> tuple[str, ...]:
        loop = schedule.loop(self.loops[0])
        return self.names or tile_names((loop,), schedule.taken_names(loop))

    def rewrite(self, schedule: Schedule) -> Tree:
        loop = schedule.loop(self.loops[0])
        (name,) = self.new_loops(schedule)
        strips, points = strip_mine(loop, name, self.factor)
        inside = _sink(loop.body, replace(points, unroll=0, parallel=False))
        outside = replace(strips, body=inside, parallel=loop.parallel)
        return replace_node(schedule.tree, loop, outside)

    def repairs(self, schedule: Schedule) -> Iterator[Steps]:
        yield from expanded(schedule, self)
        yield from skewed(schedule, self)


_MARKS = {"vector": "vectorised", "unroll": "unrolled"}


def _sink(tree: Tree, loop: Loop, once: Container[str] = ()) -> Tree:
    """The tree with `loop` around each of its innermost parts.

    Statements that run `once` in the loop around, as what begins a sum, are a part of their own.
    """
    match tree:
        case Loop(vector=None, body=body):
            once = {name for name, value in tree.schedule.items() if _is_constant(value)}
            return replace(tree, body=_sink(body, loop, once))
        case Sequence(children) if any(isinstance(child, Loop) for child in children):
            return Sequence(tuple(_sink(child, loop) for child in children))
        case Sequence(children):
            runs = groupby(children, key=lambda child: statements(child)[0] in once)
            parts = [_around(tuple(part), loop) for _, part in runs]
            return parts[0] if len(parts) == 1 else Sequence(tuple(parts))
        case Loop() | Leaf():
            return _around((tree,), loop)


def _around(parts: tuple[Tree, ...], loop: Loop) -> Loop:
    body = parts[0] if len(parts) == 1 else Sequence(parts)
    return replace(
        loop, schedule={name: loop.schedule[name] for name in statements(body)}, body=body
    )


def _is_constant(value: isl.Aff) -> bool:
    return not value.involves_dims(isl.dim_type.in_, 0, value.dim(isl.dim_type.in_))
