"""Keys of schedules: equal for those with the same loops over the same program."""

from __future__ import annotations

from ..polyhedral.schedule_tree import Leaf, Loop, Tree
from ..schedules.schedule import Schedule, Transformation


def rewrites_program(step: Transformation) -> bool:
    """Whether a step may change the program itself, not only its order."""
    return type(step).rewrite_program is not Transformation.rewrite_program


def schedule_key(schedule: Schedule) -> object:
    """Steps that lead to the same loops, and the names of these, do not count."""
    # Steps that change the program itself are not all in the tree.
    steps = tuple(str(step) for step in schedule.transformations if rewrites_program(step))
    return (steps, _tree_key(schedule, schedule.tree))


def _tree_key(schedule: Schedule, tree: Tree) -> object:
    match tree:
        case Leaf(statement):
            return statement
        case Loop():
            marks = (tree.parallel, tree.vector, tree.unroll, tree.within is not None)
            function = schedule.legality.function(tree).text
            return (function, marks, _tree_key(schedule, tree.body))
        case _:
            return tuple(_tree_key(schedule, child) for child in tree.children)
