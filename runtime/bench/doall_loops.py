"""DOALL loops that get OpenMP pragmas: the outermost ones, or some by name."""

from __future__ import annotations

from collections.abc import Collection

from xdsl.dialects import func
from xdsl.ir import Operation

from ...dialects import affine
from ...passes.polyhedral.schedule_tree import Leaf, Loop, Sequence, Tree, loops
from ...passes.polyhedral.scop import Scop
from ...passes.schedules.schedule import Schedule
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


def parallel_operations(function: func.FuncOp, scop: Scop) -> set[Operation]:
    """The loops of a function, or of a copy of it, that `outermost_parallel_loops` finds.

    None where the loops of the function have no counterpart one by one in its model.
    """
    schedule = Schedule.original(scop)
    chosen = {id(loop) for loop in outermost_parallel_loops(schedule)}
    operations = [op for op in function.walk() if isinstance(op, affine.ForOp)]
    tree = list(loops(schedule.tree))
    if len(tree) != len(operations):
        return set()
    return {op for op, loop in zip(operations, tree, strict=True) if id(loop) in chosen}


def loops_named(function: func.FuncOp, names: Collection[str]) -> set[Operation]:
    """The loops of a function with these variables."""
    return {
        op
        for op in function.walk()
        if isinstance(op, affine.ForOp) and op.body.block.args[0].name_hint in names
    }
