"""Stages of the search space, and the tree of schedules that they span.

LOOPer's order (section 4.2): fusion, then sequences of interchange, reversal and skewing, then
parallelisation, tiling and unrolling. Ours in addition: distribution, two levels of tiles, packing,
register tiles, vectors. Loops are shared among threads after tiling: the tile loops, where there
are any. Every stage takes one top-level nest after the other, so that a level has few children.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...estimate.scheduling_context import SchedulingContext
from ...polyhedral.schedule_tree import nests
from ...schedules.schedule import Schedule
from .. import names
from . import affine, cache_tiling, fusion, parallelisation, registers
from .loop_pairs import LoopPairModel
from .moves import Proposer, changes


@dataclass(frozen=True)
class Stage:
    """A level of the space, or several alike: the proposer of its moves, per nest or whole tree."""

    name: str
    proposers: tuple[Proposer, ...]
    repetitions: int = 1
    per_nest: bool = True


UNIMODULAR = (affine.interchanges, affine.reversals, affine.skews)

LOOPER = (
    Stage("fusion", (fusion.fusions,), per_nest=False),
    Stage("affine", UNIMODULAR, repetitions=2),
    Stage("parallelism", (parallelisation.parallel_loops,)),
    Stage("tiling", (cache_tiling.tiles,)),
    Stage("unrolling", (registers.unrollings,)),
)
"""The space of LOOPer, sequences of two unimodular steps in it."""

FULL = (
    Stage("fusion", (fusion.fusions, fusion.distributions), repetitions=2, per_nest=False),
    Stage("affine", UNIMODULAR, repetitions=2),
    Stage("tiling", (cache_tiling.tiles,), repetitions=2),
    Stage("packing", (cache_tiling.packs,)),
    Stage("parallelism", (parallelisation.parallel_loops, parallelisation.wavefronts_of_tiles)),
    Stage("register tiling", (registers.register_tiles, registers.jams)),
    Stage("vectors", (registers.vectors, registers.inner_vectors)),
    Stage("unrolling", (registers.unrollings,)),
)
"""LOOPer's space and ours."""

SPACES: Mapping[str, Sequence[Stage]] = dict(zip(names.SPACES, (FULL, LOOPER), strict=True))


def with_loop_pairs(stages: Sequence[Stage], model: LoopPairModel) -> Sequence[Stage]:
    """The levels with a model that says which interchanges to look at."""
    propose = affine.predicted_interchanges(model)
    return [
        replace(
            stage,
            proposers=tuple(
                propose if each is affine.interchanges else each for each in stage.proposers
            ),
        )
        for stage in stages
    ]


@dataclass(frozen=True)
class Node:
    """A schedule with its level; `is_idle` where a level changed nothing."""

    schedule: Schedule
    stage: int = 0
    repetition: int = 0
    nest: int = 0
    is_idle: bool = False


@dataclass(frozen=True)
class Space:
    """The tree of schedules; a node has children until all stages are done."""

    context: SchedulingContext
    stages: Sequence[Stage] = FULL

    def is_leaf(self, node: Node) -> bool:
        """Whether nothing comes after a node."""
        return node.stage >= len(self.stages)

    def children(self, node: Node) -> Iterator[Node]:
        """What the moves of the next level make of a schedule, legal only; first: itself."""
        stage = self.stages[node.stage]
        yield self._next(node, node.schedule, is_idle=True)
        if node.is_idle and node.repetition > 0:
            return
        tree = node.schedule.tree
        part = nests(tree)[node.nest] if stage.per_nest else tree
        for propose in stage.proposers:
            for changed in changes(node.schedule, propose(node.schedule, part, self.context)):
                yield self._next(node, changed, is_idle=False)

    def _next(self, node: Node, schedule: Schedule, *, is_idle: bool) -> Node:
        """The place after a node: the next repetition, nest or stage."""
        stage = self.stages[node.stage]
        after = replace(node, schedule=schedule, is_idle=is_idle)
        if node.repetition + 1 < stage.repetitions:
            return replace(after, repetition=node.repetition + 1)
        count = len(nests(schedule.tree)) if stage.per_nest else 1
        if node.nest + 1 < count:
            return replace(after, repetition=0, nest=node.nest + 1, is_idle=False)
        return Node(schedule, node.stage + 1)
