"""Queries on schedule trees for moves."""

from __future__ import annotations

from ...polyhedral import schedule_tree
from ...polyhedral.schedule_tree import Loop, Tree, loops, statements

MOST_COPIES = 32
"""How often a statement may stand in the code, as a product of unroll factors."""


def innermost_loops(tree: Tree) -> list[Loop]:
    """The loops without loops inside."""
    return [loop for loop in loops(tree) if len(list(loops(loop))) == 1]


def copies(tree: Tree) -> int:
    """How often the most repeated statement stands in the code because of unrolling."""
    match tree:
        case Loop(unroll=unroll, within=within, body=body):
            factor = unroll or 1
            if unroll == 0:
                factor = within.size if within is not None else MOST_COPIES
            return factor * copies(body)
        case schedule_tree.Sequence(children):
            return max(map(copies, children))
        case schedule_tree.Leaf():
            return 1


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
