"""Strategy: tensor contractions with fused initialisation (prologue) or use (epilogue).

A convolution starts each sum with a bias, and a layer applies a function to it: in the loops of the
result other statements run before and after the loops of the terms. Block by block of the result,
so that it is still in the nearest cache, they run one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence as List
from math import ceil, prod

from ..estimate.footprints import lines
from ..estimate.parallel_profitability import LEAST_CYCLES
from ..estimate.program_statistics import ProgramStatistics, bytes_of
from ..estimate.register_tile import waits_for_lines
from ..estimate.scheduling_context import SchedulingContext
from ..estimate.vector_widths import narrowed
from ..polyhedral.schedule_tree import (
    Leaf,
    Loop,
    Sequence,
    Tree,
    chain,
    loops_around,
    nest_of,
    statements,
)
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.distribute import Distribute
from ..transformations.parallel import Parallel
from ..transformations.unroll import Unroll
from ..transformations.vectorize import Vectorize
from .contraction import BlockSteps, Contraction, recognise, tile_of
from .tensor_contraction import ContractionPlan

SHORT_SUM = 4
"""Loops over so few terms are fully unrolled."""


def fused_contraction(
    schedule: Schedule, nest: Tree, context: SchedulingContext
) -> Schedule | None:
    """Blocks of the result, in each of which every statement has vector loops of its own.

    for i: for j: (S0; for k: S1)
    ->  for it: for jt: (for i: for j: S0; for k: for i: for j: S1) with i, j in registers
    """
    sums = [name for name in statements(nest) if name in schedule.dependences.accumulations]
    if not isinstance(nest, Loop) or len(sums) != 1:
        return None
    (name,) = sums
    try:
        schedule = _separate(schedule, name, len(chain(nest)))
        shared = chain(_loop_around(schedule.tree, name))
        statistics = context.statistics(schedule.scop)
        if not _is_initialised(shared[-1].body, name, statistics):
            return None
        found = recognise(schedule, name, loops_around(schedule.tree, name), statistics)
        inner = loops_around(schedule.tree, name)[len(shared) :]
        if found is None or {loop.name for loop in inner} != set(found.terms):
            return None
        plan = _Plan(schedule, found, statistics, context)
        return None if plan.waits() else plan.apply()
    except TransformationError:
        return None


def _separate(schedule: Schedule, name: str, shared: int) -> Schedule:
    """The schedule in which the loops inside of the shared ones run one statement each.

    Where a statement needs the whole sum, a scheduler puts it into the last iteration of a loop.
    """
    around = loops_around(schedule.tree, name)
    for loop in around[shared:]:
        if isinstance(loop.body, Sequence):
            return schedule.apply(Distribute((f"{name}.{loop.name}",)))
    return schedule


def _is_initialised(body: Tree, name: str, statistics: ProgramStatistics) -> bool:
    """Whether a body is loops around the statement, and other statements before or after them."""
    if not isinstance(body, Sequence):
        return False
    for child in body.children:
        around = chain(child) if isinstance(child, Loop) else ()
        if not isinstance(around[-1].body if around else child, Leaf):
            return False
        (statement,) = statements(child)
        if statement != name and any(
            any(statistics.statements[statement].slopes(loop)) for loop in around
        ):
            return False
    return True


class _Plan(BlockSteps):
    """The transformations, and the sizes of the result's block."""

    def __init__(
        self,
        schedule: Schedule,
        found: Contraction,
        statistics: ProgramStatistics,
        context: SchedulingContext,
    ) -> None:
        super().__init__(schedule, found.statement)
        self.found = found
        self.statistics = statistics
        self.context = context
        extents = found.extents
        # Of the longer elements: sums of short integers fill several registers for one of factors.
        (result,) = statistics.statements[found.statement].statement.writes
        arrays = found.streamed.array, result.array
        lanes = min(schedule.target.lanes(array.element_type) for array in arrays)
        # Where the rows fill vectors, lanes along them are better than shorter ones along columns.
        is_small = extents[found.rows] < lanes
        self.lanes = narrowed(lanes, extents[found.vector]) if is_small else lanes
        vectors = ceil(extents[found.vector] / self.lanes)
        self.tile = tile_of(found, vectors, context, schedule.target)
        cycles = prod(extents.values()) / self.lanes / schedule.target.multiply_adds_per_cycle
        self.threads = context.threads if cycles >= LEAST_CYCLES else 1

    def waits(self) -> bool:
        """Whether the sum by itself is faster: its operand comes slowly, and is packed there.

        Each block of rows reads it anew, from behind the second-level cache.
        """
        streamed, target = self.found.streamed, self.schedule.target
        if self.statistics.bytes(streamed.array) <= target.capacity(2):
            return False
        size = bytes_of(streamed.array.element_type)
        row = lines(self.tile.vectors * self.lanes, size, target.cache_line)
        return waits_for_lines(self.tile, row, target, level=2) and (
            ContractionPlan(self.schedule, self.found, self.statistics, self.context).is_packed()
        )

    def apply(self) -> Schedule:
        """The schedule with all statements in blocks of the result."""
        found = self.found
        members = (found.rows, found.vector)
        self.interchange((*found.others, *members))
        blocks, _ = self.make_tiles(members, (self.tile.rows, self.tile.vectors * self.lanes))
        self.step(Distribute(self._names(members)))
        self.interchange((*found.terms, *members))
        short = [name for name in found.terms if found.extents[name] <= SHORT_SUM]
        parts = dict(self.split_blocks(found, blocks, self.tile, self.context))
        for part, taps in parts.items():
            unrolled = dict.fromkeys((*taps, *short[-2:], *members))
            self.step(Unroll(tuple(f"{part}.{name}" for name in unrolled)))
        for statement in statements(nest_of(self.schedule.tree, found.statement)):
            vector = f"{statement}.{found.vector}"
            if statement not in parts:
                self.step(Unroll((f"{statement}.{found.rows}", vector)))
            self.step(Vectorize((vector,), self.lanes))
        if self.threads > 1:
            self._parallel()
        return self.schedule

    def _parallel(self) -> None:
        """Shares the outermost loop with an iteration for each thread."""
        outermost = chain(_loop_around(self.schedule.tree, self.found.statement))
        for loop in outermost:
            step = Parallel((f"{self.found.statement}.{loop.name}",))
            trips = self.found.extents.get(loop.name, self.threads)
            if trips >= self.threads and self.schedule.legal(step):
                self.step(step)
                return

    def _names(self, members: List[str]) -> tuple[str, ...]:
        return tuple(self.name(name) for name in members)


def _loop_around(tree: Tree, statement: str) -> Loop:
    nest = nest_of(tree, statement)
    assert isinstance(nest, Loop)
    return nest
