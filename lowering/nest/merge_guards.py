"""Merging of neighbouring conditionals on the same condition.

A tile of each statement may be full or partial, and the statements of one tile are both:

    if 4 it + 4 <= n: S0                 if 4 it + 4 <= n:
    else: S0 in part                       S0
    if 4 it + 4 <= n: S1           ->      S1
    else: S1 in part                     else: S0 in part; S1 in part

What S0 has stored, S1 then finds in a register (`lowering.memory.store_to_load_forwarding`).
"""

from __future__ import annotations

from collections.abc import Iterable

from .nest import Block, Guard, Nest, TileSplit, with_children


def merge_guards(nest: Nest) -> Nest:
    """The nest in which neighbours under the same condition are in one conditional."""
    if isinstance(nest, Block):
        merged: list[Nest] = []
        for part in _flat(nest.parts):
            both = _merged(merged[-1], part) if merged else None
            if both is None:
                merged.append(part)
            else:
                merged[-1] = both
        nest = Block(tuple(merged))
    return with_children(nest, merge_guards)


def _flat(parts: Iterable[Nest]) -> Iterable[Nest]:
    """The parts of a block, with those of blocks in it."""
    for part in parts:
        if isinstance(part, Block):
            yield from _flat(part.parts)
        else:
            yield part


def _merged(first: Nest, second: Nest) -> Nest | None:
    """Both in one conditional, where they ask for the same; else None."""
    match first, second:
        case Guard(condition, one, other), Guard() if condition == second.condition:
            return Guard(condition, _both(one, second.then), _both(other, second.otherwise))
        case TileSplit(condition, one, other), TileSplit() if condition == second.condition:
            return TileSplit(condition, _both(one, second.full), _both(other, second.partial))
        case _:
            return None


def _both(first: Nest, second: Nest) -> Nest:
    return Block(tuple(_flat((first, second))))
