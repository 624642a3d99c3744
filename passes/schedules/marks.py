"""Loop marks (parallel, vectorised, unrolled): changes that keep the tree's shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from ..polyhedral import schedule_tree
from ..polyhedral.schedule_tree import Leaf, Loop, Tree, loops
from .errors import MalformedTransformation
from .schedule import Schedule, Steps, Transformation


def mark(schedule: Schedule, names: tuple[str, ...], change: Callable[[Loop], Loop]) -> Tree:
    """The schedule's tree in which `change` has been applied to the named loops.

    Raises MalformedTransformation on unknown or repeated loops.
    """
    chosen = schedule.find_loops(names)
    if not chosen:
        raise MalformedTransformation("name at least one loop")
    return change_loops(schedule, [(loop, change) for loop in chosen])


def change_loops(
    schedule: Schedule, changes: Sequence[tuple[Loop, Callable[[Loop], Loop]]]
) -> Tree:
    """The schedule's tree with loops that are changed, inner ones first.

    Raises MalformedTransformation when a loop is changed twice.
    """
    by_identity = {id(loop): change for loop, change in changes}
    if len(by_identity) < len(changes):
        chosen = [loop for loop, _ in changes]
        twice = next(a for n, a in enumerate(chosen) if any(a is b for b in chosen[:n]))
        raise MalformedTransformation(f"loop {twice.name} is named twice")
    return _change(schedule.tree, by_identity)


def _change(tree: Tree, changes: Mapping[int, Callable[[Loop], Loop]]) -> Tree:
    match tree:
        case Loop(body=body):
            changed = _change(body, changes)
            loop = tree if changed is body else replace(tree, body=changed)
            return changes[id(tree)](loop) if id(tree) in changes else loop
        case schedule_tree.Sequence(children):
            parts = tuple(_change(child, changes) for child in children)
            unchanged = all(a is b for a, b in zip(parts, children, strict=True))
            return tree if unchanged else schedule_tree.Sequence(parts)
        case Leaf():
            return tree


def on_another_loop(
    schedule: Schedule, illegal: Transformation, *, innermost_first: bool = False
) -> Iterator[Steps]:
    """Repairs an illegal mark of a loop: the same mark on a loop around or inside of it."""
    for loop in schedule.find_loops(illegal.loops):
        others = [*schedule.outer(loop), *list(loops(loop))[1:]]
        for other in others[::-1] if innermost_first else others:
            yield (replace(illegal, loops=(schedule.short_name(other),)),)
