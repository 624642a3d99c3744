"""Construction and renaming of tile loops, for transformations."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import replace

import islpy as isl

from ..polyhedral.schedule_tree import Leaf, Loop, Sequence, TileSize, Tree
from .errors import MalformedTransformation


def strip_mine(loop: Loop, name: str, size: int) -> tuple[Loop, Loop]:
    """The tile loop, called `name`, and the point loop of a loop; neither has a new body yet."""
    schedule = {
        statement: aff.scale_down_val(isl.Val(size)).floor()
        for statement, aff in loop.schedule.items()
    }
    outer = loop.within
    within = None
    if outer is not None and outer.size % size == 0:
        within = TileSize(outer.tile, outer.size // size)
    return Loop(name, schedule, loop.body, within=within), replace(
        loop, within=TileSize(name, size)
    )


def tile_names(members: tuple[Loop, ...], taken: set[str]) -> tuple[str, ...]:
    """Names for the tile loops of `members`: `it` for `i`, or `it2`, `it3` ... when taken."""
    names: list[str] = []
    for loop in members:
        names.append(_free_name(f"{loop.name}t", taken | set(names)))
    return tuple(names)


def check_sizes(sizes: tuple[int | str, ...], count: int, taken: Container[str] = ()) -> None:
    """Raises MalformedTransformation unless these are `count` positive numbers or free names."""
    if len(sizes) != count:
        raise MalformedTransformation(f"give one size per loop: {count}, not {len(sizes)}")
    for size in sizes:
        if isinstance(size, str):
            if not re.fullmatch(r"[A-Za-z]\w*", size, re.ASCII):
                raise MalformedTransformation(
                    f"a tile size is a number or a name of letters, digits and _, not {size!r}"
                )
            if size in taken:
                raise MalformedTransformation(
                    f"the tile size {size} is called as an argument of the function; "
                    "choose another name"
                )
        elif size < 1:
            raise MalformedTransformation(f"a tile size must be at least 1, not {size}")


def check_names(names: tuple[str, ...], count: int, taken: set[str]) -> None:
    """Raises MalformedTransformation unless there are `count` names, valid, different and free."""
    if len(names) != count or len(set(names)) != count:
        raise MalformedTransformation(f"give {count} different names, one per tile loop")
    for name in names:
        if not re.fullmatch(r"[A-Za-z]\w*(?<!_\d)", name, re.ASCII):
            raise MalformedTransformation(
                f"{name!r} cannot be a name: use letters, digits and _, without a number after _"
            )
        if name in taken:
            raise MalformedTransformation(f"the name {name} is taken; choose another")


def reschedule(loop: Loop, schedule: Mapping[str, isl.Aff]) -> Loop:
    """The loop over other values, which is no longer part of what its tile loop covers.

    Neither do the point loops that it was the tile loop of cover one of its values any more.
    """
    return replace(loop, schedule=schedule, within=None, body=forget_tile(loop.body, loop.name))


def forget_tile(tree: Tree, tile: str) -> Tree:
    """The tree in which no loop says that it covers a tile of the loop called `tile`."""
    match tree:
        case Loop(within=within, body=body):
            kept = None if within is not None and within.tile == tile else within
            return replace(tree, within=kept, body=forget_tile(body, tile))
        case Sequence(children):
            return Sequence(tuple(forget_tile(child, tile) for child in children))
        case Leaf():
            return tree


def _free_name(base: str, taken: Container[str]) -> str:
    name, number = base, 2
    while name in taken:
        name, number = f"{base}{number}", number + 1
    return name
