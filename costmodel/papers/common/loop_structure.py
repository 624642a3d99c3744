"""Loop tree of a program: the input structure of recursive networks.

It is the program's own, after the steps that change the structure, such as fusion (Tiramisu 2021,
section 4.1: these "are directly applied to the program structure representation"). All others are
described by tags and vectors, and do not change the tree.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....passes.estimate.scheduling_context import SchedulingContext
from ....passes.polyhedral.schedule_tree import Leaf, Loop, Tree, nests
from ....passes.schedules.schedule import Schedule
from ...learning.examples import Unsupported
from ...learning.schedule_history import history_of
from .loop_iterators import iterators, tile_loops

MOST_LEVELS = 7
"""Loops around a statement (Tiramisu 2021, section 4.2: n = 7)."""

STRUCTURAL = frozenset({"affine-schedule", "distribute", "fuse", "reorder", "rfactor", "split"})
"""Steps that change which loops there are and which statements are in them."""

Node = int | tuple[int, tuple["Node", ...]]
"""A statement (its number), or a loop (its number) with what is in it; both counted in order."""

Shape = tuple[Node, ...]
"""What the program runs one after the other."""

DROPPED = -1
"""The number of a node that is not in the tree."""


@dataclass(frozen=True)
class Computation:
    """A statement: its name, and the iterator of each loop around it (None: of none).

    `loops` are the numbers of these loops, outermost first.
    """

    statement: str
    levels: tuple[int | None, ...]
    loops: tuple[int, ...]


@dataclass(frozen=True)
class Structure:
    """The loop tree of `schedule`, and its statements in order."""

    schedule: Schedule
    shape: Shape
    computations: tuple[Computation, ...]
    loops: int


def anchor(schedule: Schedule) -> Schedule:
    """The schedule after its last structural step."""
    steps = schedule.transformations
    last = max((n + 1 for n, step in enumerate(steps) if step.name in STRUCTURAL), default=0)
    return history_of(schedule.program).states(schedule)[last]


def structure_of(
    context: SchedulingContext, schedule: Schedule, part: Tree | None = None
) -> Structure:
    """The tree of a schedule, or of a nest of it, without tile loops.

    Raises Unsupported when it is too deep.
    """
    builder = _Builder(context, schedule)
    shape = tuple(builder.node(nest, (), ()) for nest in nests(part or schedule.tree))
    return Structure(schedule, _flat(shape), tuple(builder.computations), builder.loops)


class _Builder:
    def __init__(self, context: SchedulingContext, schedule: Schedule) -> None:
        self.statistics = context.statistics(schedule.scop)
        self.tiles = tile_loops(schedule.tree)
        self.computations: list[Computation] = []
        self.loops = 0

    def node(self, tree: Tree, around: tuple[Loop, ...], numbers: tuple[int, ...]) -> Node:
        match tree:
            case Leaf(name):
                return self._computation(name, around, numbers)
            case Loop():
                number = self.loops
                is_tile = tree.name in self.tiles
                self.loops += not is_tile
                own = DROPPED if is_tile else number
                return (own, self._children(tree.body, (*around, tree), (*numbers, own)))
            case _:
                return (DROPPED, self._children(tree, around, numbers))

    def _children(
        self, body: Tree, around: tuple[Loop, ...], numbers: tuple[int, ...]
    ) -> tuple[Node, ...]:
        return _flat(tuple(self.node(child, around, numbers) for child in nests(body)))

    def _computation(self, name: str, around: tuple[Loop, ...], numbers: tuple[int, ...]) -> int:
        found = iterators(self.statistics.statements[name], around)
        kept = [place for place, number in enumerate(numbers) if number != DROPPED]
        if len(kept) > MOST_LEVELS:
            raise Unsupported(f"more than {MOST_LEVELS} loops around a statement")
        self.computations.append(
            Computation(
                name,
                tuple(found[place] for place in kept),
                tuple(numbers[place] for place in kept),
            )
        )
        return len(self.computations) - 1


def _flat(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Puts what is in tile loops, and in sequences, in their place."""
    result: list[Node] = []
    for node in nodes:
        if not isinstance(node, int) and node[0] == DROPPED:
            result.extend(node[1])
        else:
            result.append(node)
    return tuple(result)
