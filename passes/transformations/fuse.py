"""Join loops that run one after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

from ..schedule import Schedule
from ..schedule_tree import (
    Leaf,
    Loop,
    Sequence,
    TileSize,
    Tree,
    loops,
    path,
    replace_node,
    sequence,
)
from ..transformation import MalformedTransformation, Transformation


@dataclass(frozen=True)
class Fuse(Transformation):
    """Joins loops that follow each other into one, which is called as the first of them.

    Iterations of the same value run together. `fuse{loops=S0.i,S1.i}`:

        for i:                  for i:
          S0[i]                   S0[i]
        for i:          ->        S1[i]
          S1[i]
    """

    name: ClassVar[str] = "fuse"

    def rewrite(self, schedule: Schedule) -> Tree:
        members = schedule.find_loops(self.loops)
        if len(members) < 2:
            raise MalformedTransformation("name at least two loops, in the order in which they run")
        parent = _parent(schedule.tree, members)
        start = next(n for n, child in enumerate(parent.children) if child is members[0])
        before, after = parent.children[:start], parent.children[start + len(members) :]
        new = sequence((*before, _fuse(members), *after))
        return replace_node(schedule.tree, parent, new)


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


def _fuse(members: tuple[Loop, ...]) -> Loop:
    first = members[0]
    bodies: list[Tree] = []
    for loop in members:
        for mark in ("parallel", "vector", "unroll"):
            if getattr(loop, mark) != getattr(first, mark):
                raise MalformedTransformation("some of the loops are marked and others are not")
        if loop.name != first.name and first.name in {inner.name for inner in loops(loop)}:
            raise MalformedTransformation(
                f"the fused loop cannot be called {first.name}, as a loop in {loop.name} is"
            )
        bodies.append(_rename_tile(loop.body, loop.name, first.name))
    within = first.within if all(loop.within == first.within for loop in members) else None
    schedule = {name: aff for loop in members for name, aff in loop.schedule.items()}
    return replace(first, schedule=schedule, within=within, body=sequence(bodies))


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
