"""Queries on schedule trees for moves."""

from __future__ import annotations

from ...polyhedral import schedule_tree
from ...polyhedral.schedule_tree import Loop, Tree, loops, statements


def innermost_loops(tree: Tree) -> list[Loop]:
    """The loops without loops inside."""
    return [loop for loop in loops(tree) if len(list(loops(loop))) == 1]


def tree_key(tree: Tree) -> object:
    """What tells two orders of a program apart, as far as the names of loops do."""
    match tree:
        case schedule_tree.Leaf(statement):
            return statement
        case schedule_tree.Sequence(children):
            return tuple(map(tree_key, children))
        case Loop():
            functions = tuple(str(aff) for aff in tree.schedule.values())
            marks = (tree.parallel, tree.vector, tree.unroll, tree.within)
            return (functions, marks, tree_key(tree.body))


def certain_names(members: tuple[Loop, ...] | list[Loop]) -> tuple[str, ...]:
    """The names of loops with a statement in front: they stay what they are when others change."""
    return tuple(f"{statements(loop)[0]}.{loop.name}" for loop in members)
