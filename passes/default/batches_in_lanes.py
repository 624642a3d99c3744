"""Proposal: batches of small matrices, one in each lane (solvers, factorisations, inverses).

What is too short and too sequential for vectors inside of one problem is independent from problem
to problem. The problems of a strip lie interleaved in buffers, so that lanes are neighbours, as in
compact batched BLAS (Kim et al., "Designing vector-friendly compact BLAS and LAPACK kernels", SC
2017); copies in and out are transposed in registers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from ..estimate.operation_costs import is_called_by_lane
from ..estimate.parallel_profitability import LEAST_INSTANCES
from ..estimate.program_statistics import StatementStatistics, bytes_of, subscript_steps
from ..estimate.scheduling_context import SchedulingContext
from ..estimate.strided_accesses import LARGEST_ROW
from ..polyhedral.schedule_tree import Loop, Tree, leaves, loops_around
from ..polyhedral.scop import Array
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule, Transformation
from ..transformations.interchange import Interchange
from ..transformations.pack import Pack
from ..transformations.parallel import Parallel
from ..transformations.strip_mine import StripMine
from ..transformations.unroll import Unroll
from ..transformations.vectorize import Vectorize
from .steps import added_statements, attempt

BUFFERS = 0.5
"""Share of the second cache for the buffers of a strip."""

REUSE = 2.0
"""Accesses to each element that is packed, at least."""

FEWEST_STRIPS = 4
"""For each thread; with less, one thread has them all unless the estimate says otherwise."""


def batches_in_lanes(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Schedule | None:
    """Strips of independent problems, interleaved in buffers, with one in each lane.

    for b:                                    parallel for strips of 8 problems b:
      for i: for j < i: for k < j:              P[i, j, b] = A[b, i, j]
        A[b, i, j] -= A[b, i, k] * A[b, j, k]   vector b in strip:
                                          ->      for i: for j < i: for k < j:
                                                    P[i, j, b] -= P[i, k, b] * P[j, k, b]
                                                A[b, i, j] = P[i, j, b]
    """
    if not isinstance(nest, Loop) or nest.vector or nest.parallel:
        return None
    if not schedule.legality.is_coincident(frozenset(), nest):
        return None
    batch = _Batch(schedule, nest, context)
    try:
        return batch.in_lanes()
    except TransformationError:
        return None


@dataclass(frozen=True)
class _Batch:
    """A loop over independent problems."""

    schedule: Schedule
    nest: Loop
    context: SchedulingContext

    @property
    def statement(self) -> str:
        """One of the statements inside."""
        return next(iter(self.nest.schedule))

    @cached_property
    def problems(self) -> dict[Array, int] | None:
        """The arrays of which each problem has a part, by the subscript that tells which.

        None where it takes more than one subscript to tell, or a problem has no recurrences.
        """
        statistics = self.context.statistics(self.schedule.scop).statements
        found: dict[Array, int] = {}
        is_deep = False
        for leaf, loops in leaves(self.nest, ()):
            statement = statistics[leaf.statement]
            across = statement.direction(loops, self.nest)
            if across is None or statement.statement.is_opaque:
                return None
            is_deep |= len(loops) > 1 and self._is_recurrence(loops[1])
            for access in statement.statement.accesses:
                steps = subscript_steps(access, across)
                moving = [position for position, step in enumerate(steps) if step]
                if not moving or access.array.is_local:
                    continue
                (position, *others) = moving
                if others or steps[position] != 1 or found.get(access.array, position) != position:
                    return None
                found[access.array] = position
        return found if is_deep else None

    def _is_recurrence(self, loop: Loop) -> bool:
        """Whether iterations inside of a problem wait for each other, and do more than add up."""
        inside = self.schedule.legality.inside(frozenset(), self.nest)
        return not self.schedule.legality.is_coincident(inside, loop) and any(
            name not in self.schedule.dependences.accumulations for name in loop.schedule
        )

    def in_lanes(self) -> Schedule | None:
        """The problems in lanes; None where there is nothing to pack, or too much.

        Raises TransformationError.
        """
        packed = {a: k for a, k in (self.problems or {}).items() if k != len(a.shape) - 1}
        if not packed or self._calls_functions() or self._is_contraction():
            return None
        lanes = min(self.schedule.target.lanes(array.element_type) for array in packed)
        statistics = self.context.statistics(self.schedule.scop)
        (problems, *_) = statistics.statements[self.statement].trips((self.nest,))
        elements = {
            array: prod(n for k, n in enumerate(statistics.extents(array)) if k != position)
            for array, position in packed.items()
        }
        uses = sum(
            each.instances * sum(access.array in packed for access in each.statement.accesses)
            for each in self._statements()
        )
        size = sum(n * bytes_of(array.element_type) for array, n in elements.items())
        if (
            lanes * size > BUFFERS * self.schedule.target.capacity(2)
            or problems < FEWEST_STRIPS * lanes
            or uses < REUSE * problems * sum(elements.values())
        ):
            return None
        strip = StripMine((f"{self.statement}.{self.nest.name}",), lanes)
        (strips,) = strip.resolve(self.schedule).new_loops(self.schedule)
        outer = f"{self.statement}.{strips}"
        result = self.schedule.apply(strip)
        for array, position in packed.items():
            rest = [k for k in range(len(array.shape)) if k != position]
            before = result
            result = result.apply(Pack((outer,), array.name, (*rest, position)))
            for copy in added_statements(before, result):
                is_out = any(
                    write.array.name == array.name for write in result.scop.statement(copy).writes
                )
                order = (*rest, position)
                is_short = elements[array] <= LARGEST_ROW
                copied = _interleaved if is_short else _transposed_out if is_out else _transposed_in
                result = copied(result, copy, lanes, order)
        result = result.apply(Vectorize((f"{self.statement}.{self.nest.name}",), lanes))
        work = sum(each.work for each in self._statements())
        is_wide = problems >= FEWEST_STRIPS * lanes * self.context.threads
        if self.context.threads > 1 and is_wide and work >= LEAST_INSTANCES:
            result = result.apply(Parallel((outer,)))
        return result

    def _statements(self) -> Iterator[StatementStatistics]:
        statistics = self.context.statistics(self.schedule.scop).statements
        return (statistics[name] for name in self.nest.schedule)

    def _calls_functions(self) -> bool:
        """Whether lanes would call the C library one by one."""
        target, may_reassociate = self.schedule.target, self.schedule.reassociate
        return any(
            is_called_by_lane(operation, target, reassociate=may_reassociate)
            for each in self._statements()
            for operation in each.statement.body
        )

    def _is_contraction(self) -> bool:
        """Whether most is spent on sums of products of inputs, some of which all problems share.

        These are matrix products of all problems at once; what a problem has computed is not there
        for all of them at a time.
        """
        most = max(self._statements(), key=lambda each: each.work).statement
        own = {write.array for write in most.writes}
        computed = {write.array for each in self._statements() for write in each.statement.writes}
        operands = {read.array for read in most.reads} - own
        return (
            most.name in self.schedule.dependences.accumulations
            and operands.isdisjoint(computed)
            and any(not a.is_local and a not in (self.problems or {}) for a in operands)
        )


def _interleaved(schedule: Schedule, copy: str, lanes: int, order: Sequence[int]) -> Schedule:
    """A copy between lanes and rows of few elements, which are shuffled together."""
    schedule, (*columns, problems) = _ordered(schedule, copy, order)
    steps = [Unroll((column,)) for column in columns]
    return _with(schedule, [Vectorize((problems,), lanes), *steps])


def _transposed_in(schedule: Schedule, copy: str, lanes: int, order: Sequence[int]) -> Schedule:
    """A copy from rows to lanes, in blocks of some columns where these fit."""
    schedule, (*_, column, problems) = _ordered(schedule, copy, order)
    steps = [Vectorize((problems,), lanes), Unroll((column,), max(2, lanes // 2))]
    return _with(schedule, steps)


def _transposed_out(schedule: Schedule, copy: str, lanes: int, order: Sequence[int]) -> Schedule:
    """A copy from lanes to rows, in blocks of some columns where these fit."""
    schedule, (*_, column, problems) = _ordered(schedule, copy, order)
    return _with(schedule, [Vectorize((column,), max(2, lanes // 2)), Unroll((problems,))])


def _ordered(schedule: Schedule, copy: str, order: Sequence[int]) -> tuple[Schedule, Sequence[str]]:
    """A copy with its loops in an order, and their names."""
    loops = loops_around(schedule.tree, copy)[-len(order) :]
    names = tuple(f"{copy}.{loops[k].name}" for k in order)
    steps = [Interchange(names)] if list(order) != sorted(order) else []
    return _with(schedule, steps), names


def _with(schedule: Schedule, steps: Iterable[Transformation]) -> Schedule:
    """The schedule after the steps that are possible."""
    for step in steps:
        schedule = attempt(schedule, step) or schedule
    return schedule
