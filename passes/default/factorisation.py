"""Strategy: blocked (right-looking) matrix factorisations, such as LU and Cholesky.

What isl's scheduler makes of an LU or Cholesky decomposition is one permutable band of three loops
with the updates and the divisions inside. Cut into blocks of terms, and rows and columns where a
block of them ends, it is the blocked algorithm of LAPACK: factorise a block on the diagonal, then
the panels beside and below it, then update the rest, which is a matrix product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from ..estimate.program_statistics import ProgramStatistics, bytes_of, subscript_steps
from ..estimate.register_tile import RegisterTile
from ..estimate.scheduling_context import SchedulingContext
from ..estimate.set_conflicts import rows_without_conflicts
from ..polyhedral.reductions import Accumulation
from ..polyhedral.schedule_tree import Loop, Tree, chain, loops_around, nests, statements
from ..polyhedral.schedule_tree import Sequence as Parts
from ..polyhedral.scop import Access
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule, Transformation
from ..transformations.distribute import Distribute
from ..transformations.interchange import Interchange
from ..transformations.pack import Pack, read_number
from ..transformations.parallel import Parallel
from ..transformations.reorder import Reorder
from ..transformations.split import Split
from ..transformations.strip_mine import StripMine
from ..transformations.tile import Tile
from ..transformations.unroll import Unroll
from ..transformations.unroll_and_jam import UnrollAndJam
from ..transformations.vectorize import Vectorize
from .contraction import is_contiguous, selects
from .steps import attempt

PROFITABLE = 100_000
"""Statement instances below which blocks are not worth their edges."""

LEAST_BLOCK, LARGEST_BLOCK, BLOCKS = 72, 144, 16
"""Terms of a block, and into how many blocks rows are cut between these limits: larger ones read
and write the rest of the matrix less often, smaller ones leave less to blocks on the diagonal."""

WIDTH = 3
"""Vectors of a block of the matrix in registers."""

PANEL_LINES = 2
"""Lines of a panel that compete with those of the rows of a block for a set of a cache."""

CHAINS = 8
"""Sums that run side by side where each is a chain of operations."""


def factorisation(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Schedule | None:
    """Blocks of terms, with register tiles in the panels and in the update of the rest.

    for k: for i: for j: { S: A[i, k] /= A[k, k];  T: A[i, j] -= A[i, k] * A[k, j] }
    ->  for kt: { block on the diagonal; panels; parallel jt: pack; 9 x 24 blocks of T }
    """
    statistics = context.statistics(schedule.scop)
    names = statements(nest)
    if not isinstance(nest, Loop) or len(names) < 2:
        return None
    band = chain(nest)
    if len(band) != 3 or not isinstance(band[-1].body, Parts):
        return None
    updates = [name for name in names if _is_update(schedule, name)]
    if not updates or sum(statistics.statements[name].instances for name in updates) < PROFITABLE:
        return None
    order = _order(schedule, updates, band, statistics)
    if order is None or not any(_uses_results(schedule, name, names) for name in updates):
        return None
    try:
        plan = _Plan(schedule, updates[0], order, context)
        # One block alone leaves nothing to be updated.
        return plan.apply() if plan.terms > plan.block else None
    except TransformationError:
        return None


def _is_update(schedule: Schedule, name: str) -> bool:
    """Whether a statement has three loops, and accumulates products."""
    return name in schedule.dependences.accumulations and (
        len(schedule.scop.statement(name).loops) == 3
    )


def _uses_results(schedule: Schedule, update: str, names: Sequence[str]) -> bool:
    """Whether an update multiplies what statements of the nest compute."""
    written = {w.array.name for name in names for w in schedule.scop.statement(name).writes}
    own = schedule.dependences.accumulations[update].load
    reads = schedule.scop.statement(update).reads
    return any(read is not own and read.array.name in written for read in reads)


@dataclass(frozen=True)
class _Order:
    """The loops of a band over rows, along rows, and over terms, by name."""

    rows: str
    along: str
    terms: str


def _order(
    schedule: Schedule, updates: Sequence[str], band: Sequence[Loop], statistics: ProgramStatistics
) -> _Order | None:
    """What the loops of a band are, if they are that for all updates."""
    found: _Order | None = None
    for name in updates:
        statement = statistics.statements[name]
        result = schedule.dependences.accumulations[name].store
        free = [loop for loop in band if selects(statement, loop, result)]
        terms = [loop for loop in band if not any(loop is other for other in free)]
        along = [loop for loop in free if is_contiguous(statement, loop, result)]
        if len(free) != 2 or len(along) != 1:
            return None
        (rows,) = (loop for loop in free if loop is not along[0])
        own = _Order(rows.name, along[0].name, terms[0].name)
        if found is not None and found != own:
            return None
        found = own
    return found


class _Plan:
    """The transformations that block the nests of the loop over blocks, one after the other."""

    def __init__(
        self, schedule: Schedule, update: str, order: _Order, context: SchedulingContext
    ) -> None:
        self.schedule = schedule
        self.update = update
        self.order = order
        self.context = context
        result = schedule.dependences.accumulations[update].store
        self.lanes = schedule.target.lanes(result.array.element_type)
        statement = self.statistics.statements[update]
        (extent,) = statement.trips((self._loop(update, order.rows),))
        along = statement.slopes(self._loop(update, order.terms))
        # In all: in triangles, each element has a third of them on average.
        self.terms = max(statement.count(frozenset({k})) for k, step in enumerate(along) if step)
        wanted = min(LARGEST_BLOCK, max(LEAST_BLOCK, extent / BLOCKS))
        unit = WIDTH * self.lanes
        self.block = ceil(wanted / unit) * unit
        self.tile: RegisterTile = context.register_tile(
            update,
            self.block,
            self.block // self.lanes,
            self.block,
            schedule.target,
            self._tallest(result),
        )

    def _tallest(self, result: Access) -> int | None:
        """Rows of a block whose factors, and those of the panel, are in the first-level cache."""
        statement = self.statistics.statements[self.update]
        band = loops_around(self.schedule.tree, self.update)
        direction = statement.direction(band, self._loop(self.update, self.order.rows))
        if direction is None:
            return None
        pitch = abs(statement.stride(result, direction, self.statistics))
        pitch *= bytes_of(result.array.element_type)
        rows = rows_without_conflicts(self.schedule.target, pitch)
        return max(1, int(rows) - PANEL_LINES) if rows < self.block else None

    def apply(self) -> Schedule:
        """The whole schedule; raises TransformationError."""
        blocks = self._cut()
        for names in [statements(part) for part in self._parts(blocks)]:
            for plan in (self._rest, self._panel, self._diagonal):
                before = self.schedule
                try:
                    plan(names)
                except TransformationError:
                    self.schedule = before
                else:
                    break
        return self.schedule

    def _cut(self) -> str:
        """Cuts the band in blocks and parts; the name of the loop over blocks."""
        rows, along, terms = self._names(self.update)
        now = statements(self._loop(self.update, self.order.rows))
        # What finishes an element runs before what uses it in the same block.
        wanted = tuple(sorted(now, key=lambda name: _is_update(self.schedule, name)))
        if wanted != now:
            self._attempt(Reorder(statements=wanted))
        step = StripMine((terms,), self.block)
        (blocks,) = step.new_loops(self.schedule)
        self._apply(step)
        self._interchange((f"{self.update}.{blocks}", rows, along, terms))
        end = f"{self.block}{blocks}+{self.block}"
        self._apply(Split((rows,), end))
        for first in [statements(part)[0] for part in self._parts(blocks)]:
            self._attempt(Split((f"{first}.{self.order.along}",), end))
        for first in [statements(part)[0] for part in self._parts(blocks)]:
            self._attempt(Distribute((f"{first}.{self.order.rows}",)))
        return blocks

    @property
    def statistics(self) -> ProgramStatistics:
        """What is known of the program as it is now."""
        return self.context.statistics(self.schedule.scop)

    def _names(self, statement: str) -> tuple[str, str, str]:
        """The loops over rows, along rows and over terms around a statement."""
        order = self.order
        return (
            f"{statement}.{order.rows}",
            f"{statement}.{order.along}",
            f"{statement}.{order.terms}",
        )

    def _loop(self, statement: str, name: str) -> Loop:
        return self.schedule.loop(f"{statement}.{name}")

    def _parts(self, blocks: str) -> tuple[Tree, ...]:
        """What the loop over blocks runs one after the other."""
        return nests(self.schedule.loop(f"{self.update}.{blocks}").body)

    def _apply(self, step: Transformation) -> None:
        self.schedule = self.schedule.apply(step)

    def _attempt(self, step: Transformation) -> None:
        self.schedule = attempt(self.schedule, step) or self.schedule

    def _interchange(self, names: tuple[str, ...]) -> None:
        now = [loop.name for loop in self.schedule.chain(names)]
        if now != [name.rpartition(".")[2] for name in names]:
            self._apply(Interchange(names))

    def _rest(self, names: Sequence[str]) -> None:
        """What is left of the matrix, updated by a block of terms: strips of columns in parallel.

        What is read along rows is packed for each strip.
        """
        if any(name not in self.schedule.dependences.accumulations for name in names):
            raise TransformationError("not only sums")
        self._strips(names, self.order.along, self.order.rows)
        if not self.schedule.is_coincident(self._loop(names[0], self.order.rows)):
            raise TransformationError("rows wait for each other")
        rows, along, terms = self._names(names[0])
        for loop in (terms, rows, along):
            self._attempt(Distribute((loop,)))
        for name in names:
            if _is_update(self.schedule, name):
                self._registers((name,))
            else:
                self._interchange(self._names(name))
                self._apply(UnrollAndJam((f"{name}.{self.order.rows}",), CHAINS))

    def _panel(self, names: Sequence[str]) -> None:
        """Strips of rows, or else of columns, in parallel."""
        before = self.schedule
        try:
            self._strips(names, self.order.rows, self.order.along)
        except TransformationError:
            self.schedule = before
            self._strips(names, self.order.along, self.order.rows)
        self._registers(names)

    def _diagonal(self, names: Sequence[str]) -> None:
        """A block on the diagonal: one term after the other, rows in vectors."""
        rows, along, terms = self._names(names[0])
        self._interchange((terms, rows, along))
        self._apply(Distribute((along,)))
        for name in names:
            if _is_update(self.schedule, name):
                self._apply(Vectorize((f"{name}.{self.order.along}",), self.lanes))

    def _strips(self, names: Sequence[str], cut: str, other: str) -> None:
        """Cuts one of the loops into strips that do not wait for each other, on threads."""
        loop, inner = f"{names[0]}.{cut}", f"{names[0]}.{other}"
        terms = f"{names[0]}.{self.order.terms}"
        self._interchange((loop, inner, terms))
        if not self.schedule.is_coincident(self._loop(names[0], cut)):
            raise TransformationError(f"iterations of {cut} wait for each other")
        step = Tile((loop,), (self.block,))
        (strips,) = step.new_loops(self.schedule)
        self._apply(step)
        strip = f"{names[0]}.{strips}"
        if self.context.threads > 1:
            self._apply(Parallel((strip,)))
        self._pack(strip, [name for name in names if _is_update(self.schedule, name)])

    def _pack(self, strip: str, updates: Sequence[str]) -> None:
        """Copies what updates read along rows of their result, so that it lies in rows."""
        reads: dict[tuple[str, tuple[int, ...]], list[str]] = {}
        for name in updates:
            statement = self.statistics.statements[name]
            along = statement.slopes(self._loop(name, self.order.along))
            for access in statement.statement.reads:
                moving = [step != 0 for step in subscript_steps(access, along)]
                if access is not self._sum(name).load and sum(moving) == 1:
                    # The subscript that moves comes last.
                    order = tuple(sorted(range(len(moving)), key=lambda k: moving[k]))
                    number = read_number(statement.statement, access)
                    reads.setdefault((access.array.name, order), []).append(f"{name}.{number}")
        for (array, order), own in reads.items():
            self._attempt(Pack((strip,), array, order, reads=tuple(own)))

    def _sum(self, name: str) -> Accumulation:
        return self.schedule.dependences.accumulations[name]

    def _registers(self, names: Sequence[str]) -> None:
        """Blocks of the matrix in registers while the terms of a block are added."""
        rows, along, terms = self._names(names[0])
        self._interchange((rows, along, terms))
        self._apply(Tile((rows, along), (self.tile.rows, self.tile.vectors * self.lanes)))
        self._interchange((terms, rows, along))
        if len(names) > 1:
            for loop in (along, rows):
                self._apply(Distribute((loop,)))
        for name in names:
            if _is_update(self.schedule, name):
                rows, along, _ = self._names(name)
                self._apply(Unroll((rows, along)))
                self._apply(Vectorize((along,), self.lanes))
