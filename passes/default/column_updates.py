"""Strategy: blocked column updates, as in left-/right-looking Gram-Schmidt.

Each iteration of the outer loop finishes a column, takes a sum over every later one, and updates
it, so that the whole rest of the matrix comes by for every single column. Cut into blocks, the
columns of a block are finished first; the rest then comes by once per block, a few columns at a
time, which stay in a nearby cache while all columns of the block are applied to them. Where the
sums allow it, a pass over a strip of columns applies one finished column and sums up for the next.
"""

from __future__ import annotations

from ..estimate.program_statistics import bytes_of, subscript_steps
from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Loop, Tree, loops_around, nests, statements
from ..polyhedral.schedule_tree import Sequence as Parts
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule, Transformation
from ..transformations.distribute import Distribute
from ..transformations.fuse import Fuse
from ..transformations.interchange import Interchange
from ..transformations.pack import Pack, read_number
from ..transformations.parallel import Parallel
from ..transformations.reorder import Reorder
from ..transformations.retime import Retime
from ..transformations.split import Split
from ..transformations.strip_mine import StripMine
from ..transformations.unroll import Unroll
from ..transformations.vectorize import Vectorize
from .contraction import is_contiguous
from .steps import added_statements, attempt

PROFITABLE = 1_000_000
"""Statement instances of updates below which blocks are not worth their edges."""

NEARBY = 2
"""The level of the cache in which a matrix may come by as often as it likes."""

VECTORS = (5, 4, 3, 2)
"""Vectors of columns that are finished, and that come by, together: so many sums run side by side,
and each has a coefficient in a register as well."""

SHARE_OF_CACHE = 0.5
"""Of the nearby cache, for a strip of columns; finished columns have the rest."""


def column_updates(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Schedule | None:
    """Blocks of columns that are finished, then applied to all later ones in strips, on threads.

    for k: { finish k; for j > k: { S: for i: R[k, j] += Q[i, k] * A[i, j]
                                    T: for i: A[i, j] -= Q[i, k] * R[k, j] } }
    ->  for kt: { for k in kt: { finish k; S, T for j in the same block }
                  parallel jt: for k in kt: for i: { T of k - 1 for j in jt; S for j in jt } }
    """
    if not isinstance(nest, Loop) or not isinstance(nest.body, Parts):
        return None
    *first, last = nests(nest.body)
    if not first or not isinstance(last, Loop) or not isinstance(last.body, Parts):
        return None
    updates = [name for name in statements(last) if len(loops_around(schedule.tree, name)) == 3]
    statistics = context.statistics(schedule.scop)
    writes = [(name, write) for name in updates for write in schedule.scop.statement(name).writes]
    columnwise = all(
        is_contiguous(statistics.statements[name], last, write) for name, write in writes
    )
    largest = max((statistics.bytes(write.array) for _, write in writes), default=0)
    sums = [name for name in updates if name in schedule.dependences.accumulations]
    work = sum(statistics.statements[name].instances for name in updates)
    if len(updates) < 2 or not sums or not columnwise or work < PROFITABLE:
        return None
    if largest <= schedule.target.caches[NEARBY]:
        return None
    try:
        return _Plan(schedule, nest.name, last.name, context).apply(statements(last))
    except TransformationError:
        return None


class _Plan:
    """The transformations that block the columns."""

    def __init__(
        self, schedule: Schedule, terms: str, columns: str, context: SchedulingContext
    ) -> None:
        self.schedule = schedule
        self.terms = terms
        self.columns = columns
        self.context = context

    def apply(self, names: tuple[str, ...]) -> Schedule:
        """The whole schedule; raises TransformationError."""
        before = self.schedule
        width = self._width(names)
        blocks = self._strip(f"{names[0]}.{self.terms}", width)
        self._apply(Split((f"{names[0]}.{self.columns}",), f"{width}{blocks}+{width}"))
        later = added_statements(before, self.schedule)
        self._apply(Distribute((f"{names[0]}.{self.terms}",), after=(names[-1],)))
        self._in_strips(later, blocks, width)
        self._columns(names)
        for name in names:
            self._apply(Vectorize((f"{name}.{self.columns}",), self._lanes(name)))
        return self.schedule

    def _width(self, names: tuple[str, ...]) -> int:
        """Columns of a block and of a strip, so that strips begin and end where blocks do.

        As many as leave fewest for the last strip, of those of which a strip stays nearby.
        """
        lanes = max(map(self._lanes, names))
        statistics = self.context.statistics(self.schedule.scop).statements
        (terms,) = statistics[names[0]].trips((self.schedule.loop(f"{names[0]}.{self.terms}"),))
        strip = max(
            statistics[name].trips(around)[-1] * bytes_of(write.array.element_type)
            for name in names
            for around in [loops_around(self.schedule.tree, name)]
            for write in self.schedule.scop.statement(name).writes
            if len(around) > 2
        )
        nearby = SHARE_OF_CACHE * self.schedule.target.caches[NEARBY]
        widths = [count * lanes for count in VECTORS if count * lanes * strip <= nearby]
        return min(widths or [VECTORS[-1] * lanes], key=lambda width: -terms % width)

    def _in_strips(self, names: tuple[str, ...], blocks: str, width: int) -> None:
        """Strips of later columns, each updated with all columns of a block."""
        terms, columns = f"{names[0]}.{self.terms}", f"{names[0]}.{self.columns}"
        strips = f"{names[0]}.{self._strip(columns, width)}"
        self._apply(Interchange((strips, terms, columns)))
        if self.context.threads > 1:
            self._apply(Parallel((strips,)))
        self._pack(names, f"{names[0]}.{blocks}", strips)
        self._columns(names)
        before = self.schedule
        try:
            inner = self._in_one_pass(names)
        except TransformationError:
            self.schedule, inner = before, names
        for name in inner:
            self._apply(Vectorize((f"{name}.{self.columns}",), self._lanes(name)))
        for name in inner:
            self._apply(Unroll((f"{name}.{self.columns}",)))

    def _in_one_pass(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The update by one column with the sums for the next; a statement of each nest then.

        Raises TransformationError.
        """
        *others, sums, update = names
        self._apply(Retime((f"{sums}.{self.terms}",), sums))
        if others:
            self._apply(Reorder(statements=(*others, update, sums)))
        for place in (-2, -1):
            together = [loops_around(self.schedule.tree, name)[place] for name in (update, sums)]
            self._apply(Fuse((f"{update}.{together[0].name}", f"{sums}.{together[1].name}")))
        return *others, update

    def _columns(self, names: tuple[str, ...]) -> None:
        """Neighbouring columns inside of the loop over rows."""
        self._apply(Distribute((f"{names[0]}.{self.columns}",)))
        for name in names:
            inner = loops_around(self.schedule.tree, name)[-1].name
            if inner != self.columns:
                self._apply(Interchange((f"{name}.{inner}", f"{name}.{self.columns}")))

    def _pack(self, names: tuple[str, ...], blocks: str, strips: str) -> None:
        """Copies the finished columns, so that each lies in a row, and the strips of others."""
        finished: dict[str, list[str]] = {}
        for name in names:
            statement = self.schedule.scop.statement(name)
            statistics = self.context.statistics(self.schedule.scop).statements[name]
            slopes = statistics.slopes(self.schedule.loop(f"{name}.{self.terms}"))
            for access in statement.reads:
                if [step != 0 for step in subscript_steps(access, slopes)] == [False, True]:
                    number = read_number(statement, access)
                    finished.setdefault(access.array.name, []).append(f"{name}.{number}")
        for array, reads in finished.items():
            for step in (
                Pack((blocks,), array, (1, 0), reads=tuple(reads)),
                Pack((strips,), array, (1, 0)),
            ):
                packed = attempt(self.schedule, step)
                if packed is not None:
                    self.schedule = packed
                    break
        updated = self.schedule.scop.statement(names[-1]).writes[0].array.name
        self.schedule = attempt(self.schedule, Pack((strips,), updated)) or self.schedule

    def _strip(self, loop: str, size: int) -> str:
        """Cuts a loop into strips; the name of the loop over them."""
        step = StripMine((loop,), size)
        (name,) = step.new_loops(self.schedule)
        self._apply(step)
        return name

    def _lanes(self, name: str) -> int:
        write = self.schedule.scop.statement(name).writes[0]
        return self.schedule.target.lanes(write.array.element_type)

    def _apply(self, step: Transformation) -> None:
        self.schedule = self.schedule.apply(step)
