"""Strategy: tensor contractions into a privatisable array, overwritten in every outer iteration.

A temporary row that is an argument of the function orders all iterations. With a copy for each
iteration, of which only the last one is written back, they are independent, and together they make
a product of matrices.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, prod

from ..estimate.parallel_profitability import LEAST_CYCLES
from ..estimate.program_statistics import bytes_of
from ..estimate.register_tile import RegisterTile, even_size
from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Loop, Sequence, Tree, chain, loops_around, statements
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.distribute import Distribute
from ..transformations.pack import Pack
from ..transformations.parallel import Parallel
from ..transformations.reorder import Reorder
from ..transformations.tile import Tile
from ..transformations.vectorize import Vectorize
from .contraction import recognise, selects
from .steps import Steps
from .tensor_contraction import ContractionPlan

COPIES_OF_L2 = 0.0625
"""The part of the second-level cache that the copies of some iterations may fill."""


def privatised_contraction(
    schedule: Schedule, nest: Tree, context: SchedulingContext
) -> Schedule | None:
    """A row for each iteration, blocks of iterations, and the product in register tiles.

    for r: for q: (for p: x[p] = 0; for s: x[p] += A[r, q, s] * B[s, p]; for p: use x[p])
    ->  parallel r: for qt: (for q: for p: y[q, p] = 0; y += A * B; for q: for p: use y[q, p])
    """
    if not isinstance(nest, Loop):
        return None
    shared = chain(nest)
    sums = [name for name in statements(nest) if name in schedule.dependences.accumulations]
    if not isinstance(shared[-1].body, Sequence) or len(sums) != 1 or len(shared) < 2:
        return None
    array = schedule.dependences.accumulations[sums[0]].store.array
    outer = Parallel((f"{sums[0]}.{shared[0].name}",))
    if array.is_local or schedule.legal(outer):
        return None
    try:
        return _Plan(schedule, shared, sums[0], context).apply(array.name)
    except TransformationError:
        return None


class _Plan(Steps):
    """The transformations of a nest whose loops `shared` contain all statements."""

    def __init__(
        self, schedule: Schedule, shared: tuple[Loop, ...], name: str, context: SchedulingContext
    ) -> None:
        super().__init__(schedule, name)
        self.shared = shared
        self.context = context
        self.rows = f"{name}.{shared[-1].name}"
        self.others = [other for other in statements(shared[0]) if other != name]

    def apply(self, array: str) -> Schedule | None:
        """The schedule with private rows of `array`; None where there is no contraction then."""
        self.step(Pack((self.rows,), array))
        block = self._share()
        tile, height = self._block_rows()
        self._separate(array)
        own = chain(self.schedule.loop(self.rows))
        statistics = self.context.statistics(self.schedule.scop)
        around = loops_around(self.schedule.tree, self.statement)
        outside = around[: len(around) - len(own)]
        found = recognise(self.schedule, self.statement, around, statistics, fixed=len(outside))
        if found is None:
            return None
        statement = statistics.statements[self.statement]
        varies = any(selects(statement, loop, found.streamed) for loop in outside)
        if found.rows == self.shared[-1].name:
            found = replace(found, extents={**found.extents, found.rows: height})
        planned = ContractionPlan(
            self.schedule,
            found,
            statistics,
            SchedulingContext(self.context.sizes, 1),
            None if varies else block,
            tile,
        ).apply()
        if planned is None:
            return None
        for other in self.others:
            innermost = Vectorize((f"{other}.{loops_around(planned.tree, other)[-1].name}",))
            planned = planned.apply(innermost) if planned.legal(innermost) else planned
        lanes = planned.target.lanes(found.streamed.array.element_type)
        cycles = statement.instances / lanes / planned.target.multiply_adds_per_cycle
        is_long = cycles >= LEAST_CYCLES
        is_shared = self.context.threads > 1 and is_long
        return planned.apply(Parallel((f"{self.statement}.{block}",))) if is_shared else planned

    def _share(self) -> str:
        """Makes a tile of the outermost loop for each thread; the loop over these."""
        statement = self.context.statistics(self.schedule.scop).statements[self.statement]
        (trips, *_) = statement.trips(loops_around(self.schedule.tree, self.statement))
        outermost = f"{self.statement}.{self.shared[0].name}"
        step = Tile((outermost,), (ceil(trips / self.context.threads),))
        (block,) = step.new_loops(self.schedule)
        self.step(step)
        return block

    def _block_rows(self) -> tuple[RegisterTile, int]:
        """Makes tiles of iterations whose rows fit a cache; the register tile and their size."""
        statement = self.context.statistics(self.schedule.scop).statements[self.statement]
        around = loops_around(self.schedule.tree, self.statement)
        trips = dict(zip((loop.name for loop in around), statement.trips(around), strict=True))
        (store,) = statement.statement.writes
        inside = around[len(self.shared) + 1 :]
        columns, depth = (
            round(prod(trips[x.name] for x in inside if selects(statement, x, store) is wanted))
            for wanted in (True, False)
        )
        target, element_type = self.schedule.target, store.array.element_type
        extent = round(trips[self.shared[-1].name])
        vectors = ceil(columns / target.lanes(element_type))
        tile = self.context.register_tile(self.statement, extent, vectors, depth, target)
        most = int(target.caches[2] * COPIES_OF_L2 / (columns * bytes_of(element_type)))
        height = even_size(extent, most, tile.rows)
        if height < extent:
            self.step(Tile((self.rows,), (height,)))
        return tile, min(height, extent)

    def _separate(self, array: str) -> None:
        """Gives each statement loops of its own over the rows of a block."""
        self.step(Distribute((self.rows,)))
        # Last, what the last iteration writes back would become a loop of its own, far away.
        earlier = Reorder((), (f"unpack_{array}", self.others[-1]))
        if self.schedule.legal(earlier):
            self.step(earlier)
        own = chain(self.schedule.loop(self.rows))
        if isinstance(own[-1].body, Sequence):
            self.step(Distribute(tuple(f"{self.statement}.{loop.name}" for loop in own)))
