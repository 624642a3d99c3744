"""Strategy: blocked column updates, as in left-/right-looking Gram-Schmidt.

Each iteration of the outer loop finishes a column, takes a sum over every later one, and updates
it, so that the whole rest of the matrix comes by for every single column. Cut into blocks, the
columns of a block are finished first; the rest then comes by once per block, a few columns at a
time, which stay in a nearby cache while all columns of the block are applied to them.
"""

from __future__ import annotations

from ..estimate.program_statistics import subscript_steps
from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Loop, Tree, loops_around, nests, statements
from ..polyhedral.schedule_tree import Sequence as Parts
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule, Transformation
from ..transformations.distribute import Distribute
from ..transformations.interchange import Interchange
from ..transformations.pack import Pack
from ..transformations.parallel import Parallel
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

BLOCK = 16
"""Columns that are finished before the rest comes by."""

VECTORS = 8
"""Vectors of columns that come by together: so many sums run side by side."""


def column_updates(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Schedule | None:
    """Blocks of columns that are finished, then applied to all later ones in strips, on threads.

    for k: { finish k; for j > k: { S: for i: R[j] += Q[i, k] * A[i, j]
                                    T: for i: A[i, j] -= Q[i, k] * R[j] } }
    ->  for kt: { for k in kt: { finish k; S, T for j in the same block }
                  parallel jt: for k in kt: { for i: S for j in jt; for i: T for j in jt } }
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
        blocks = self._strip(f"{names[0]}.{self.terms}", BLOCK)
        self._apply(Split((f"{names[0]}.{self.columns}",), f"{BLOCK}{blocks}+{BLOCK}"))
        later = added_statements(before, self.schedule)
        self._apply(Distribute((f"{names[0]}.{self.terms}",), after=(names[-1],)))
        self._in_strips(later)
        self._columns(names)
        return self.schedule

    def _in_strips(self, names: tuple[str, ...]) -> None:
        """Strips of later columns, each updated with all columns of a block."""
        terms, columns = f"{names[0]}.{self.terms}", f"{names[0]}.{self.columns}"
        lanes = self._lanes(names[0])
        strips = f"{names[0]}.{self._strip(columns, VECTORS * lanes)}"
        self._apply(Interchange((strips, terms, columns)))
        if self.context.threads > 1:
            self._apply(Parallel((strips,)))
        self._pack(names, strips)
        self._columns(names)
        for name in names:
            self._apply(Unroll((f"{name}.{self.columns}",)))

    def _columns(self, names: tuple[str, ...]) -> None:
        """Neighbouring columns in the lanes of vectors, inside of the loop over rows."""
        self._apply(Distribute((f"{names[0]}.{self.columns}",)))
        for name in names:
            inner = loops_around(self.schedule.tree, name)[-1].name
            columns = f"{name}.{self.columns}"
            if inner != self.columns:
                self._apply(Interchange((f"{name}.{inner}", columns)))
            self._apply(Vectorize((columns,), self._lanes(name)))

    def _pack(self, names: tuple[str, ...], strips: str) -> None:
        """Copies the finished columns, so that each lies in a row."""
        statement = self.schedule.scop.statement(names[-1])
        statistics = self.context.statistics(self.schedule.scop).statements[names[-1]]
        slopes = statistics.slopes(self.schedule.loop(f"{names[-1]}.{self.terms}"))
        for access in statement.reads:
            if [step != 0 for step in subscript_steps(access, slopes)] == [False, True]:
                step = Pack((strips,), access.array.name, (1, 0))
                self.schedule = attempt(self.schedule, step) or self.schedule

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
