"""The outermost loops of a program whose iterations can run in parallel as they are."""

from __future__ import annotations

from ...passes.schedule import Schedule
from ...passes.schedule_tree import Leaf, Loop, Sequence, Tree
from ...passes.transformations.parallel import Parallel


def outermost_parallel_loops(schedule: Schedule) -> tuple[Loop, ...]:
    """From outside to inside, the first loop of every nest that can be parallel.

    A loop over time has none itself; the loops over space in it are found instead.
    """

    def find(tree: Tree) -> tuple[Loop, ...]:
        match tree:
            case Loop(body=body):
                legal = schedule.legal(Parallel((schedule.short_name(tree),)))
                return (tree,) if legal else find(body)
            case Sequence(children):
                return tuple(loop for child in children for loop in find(child))
            case Leaf():
                return ()

    return find(schedule.tree)
