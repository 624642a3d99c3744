"""Marks on loops: how a loop executes, as opposed to when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .schedule import Schedule
from .schedule_tree import Leaf, Loop, Sequence, Tree
from .transformation import MalformedTransformation


def mark(schedule: Schedule, names: tuple[str, ...], change: Callable[[Loop], Loop]) -> Tree:
    """The schedule's tree in which `change` has been applied to the named loops.

    Raises MalformedTransformation on unknown or repeated loops.
    """
    chosen = [schedule.loop(name) for name in names]
    if not chosen:
        raise MalformedTransformation("name at least one loop")
    for number, loop in enumerate(chosen):
        if any(loop is other for other in chosen[:number]):
            raise MalformedTransformation(f"loop {loop.name} is named twice")
    return _mark(schedule.tree, {id(loop) for loop in chosen}, change)


def _mark(tree: Tree, chosen: set[int], change: Callable[[Loop], Loop]) -> Tree:
    match tree:
        case Loop(body=body):
            loop = replace(tree, body=_mark(body, chosen, change))
            return change(loop) if id(tree) in chosen else loop
        case Sequence(children):
            return Sequence(tuple(_mark(child, chosen, change) for child in children))
        case Leaf():
            return tree
