"""Strategy: independent recurrences along lines (ADI, tridiagonal systems, recursive filters).

A line sweep runs forwards and often backwards over each line, and leaves coefficients behind that
nobody needs afterwards. Lines in the lanes of vectors are independent; a strip of them keeps its
coefficients in a near cache, and nothing of them gets to memory (array contraction: Lewis, Lin,
Snyder, "The implementation and evaluation of fusion and contraction in array languages", 1998).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, log2

from ..estimate.elementary_functions import elementary_cycles
from ..estimate.operation_costs import varying_results
from ..estimate.parallel_profitability import LEAST_INSTANCES
from ..estimate.program_statistics import StatementStatistics, bytes_of, subscript_steps
from ..estimate.recurrence_bound import recurrence
from ..estimate.scheduling_context import SchedulingContext
from ..estimate.set_conflicts import rows_without_conflicts
from ..polyhedral.schedule_tree import Leaf, Loop, Tree, leaves
from ..polyhedral.schedule_tree import Sequence as Parts
from ..polyhedral.scop import Access, AccessKind, Statement
from ..schedules.active_pairs import Outer
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.pack import Pack
from ..transformations.parallel import Parallel
from ..transformations.strip_mine import StripMine
from ..transformations.unroll import Unroll
from ..transformations.vectorize import Vectorize
from .steps import MANY_REGISTERS, added_statements, attempt

VECTORS = 2
"""Vectors of lines side by side: one computes while the other waits.

Twice as many where there are `MANY_REGISTERS` and no blocks to transpose, if what steps along the
lines write takes no more than `KEPT` of the registers then.
"""

KEPT = 0.5

LEAST_BITS = 256
"""Vectors of fewer lines, where rows compete for the same sets of a cache, have so many bits."""

BUFFERS = 0.5
"""Share of the second cache for the buffers of a strip."""

RARELY = 0.25
"""Copies out of a buffer, as a share of what is written to it, that do not count."""


def line_sweeps(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Schedule | None:
    """Strips of lines in lockstep, with what they leave for themselves in buffers of a strip.

    for t:                                 for t:
      for i:                                 parallel for strips of 16 lines i:
        for j:                                 vector i in strip:
          p[i, j] = f(p[i, j - 1])               for j, unrolled by 8:
        for j:                          ->         p'[j, i] = f(p'[j - 1, i])
          u[i, n - j] = g(p[i, n - j],           for j, unrolled by 8:
                          u[i, n - j + 1])         u[i, n - j] = g(p'[n - j, i], u[i, n - j + 1])

    Blocks of lines that run along rows are transposed in registers.
    """
    result = schedule
    for around, lines in _loops_over_lines(schedule, nest, (), frozenset()):
        sweep = _Sweep(schedule, around, lines, context)
        result = sweep.in_strips(result) or result
    return None if result is schedule else result


def _loops_over_lines(
    schedule: Schedule, tree: Tree, around: tuple[Loop, ...], outer: Outer
) -> Iterator[tuple[tuple[Loop, ...], Loop]]:
    """The outermost independent loops right around recurrences, with the loops around them."""
    match tree:
        case Leaf():
            return
        case Parts(children):
            for child in children:
                yield from _loops_over_lines(schedule, child, around, outer)
        case Loop() if tree.is_marked:
            return
        case Loop():
            inside = schedule.legality.inside(outer, tree)
            if not schedule.legality.is_coincident(outer, tree):
                yield from _loops_over_lines(schedule, tree.body, (*around, tree), inside)
            elif any(_is_recurrence(schedule, part, inside) for part in _parts(tree)):
                yield around, tree


def _parts(loop: Loop) -> Sequence[Tree]:
    return loop.body.children if isinstance(loop.body, Parts) else (loop.body,)


def _is_recurrence(schedule: Schedule, tree: Tree, outer: Outer) -> bool:
    """Whether a loop carries dependences, and does more than accumulate."""
    if not isinstance(tree, Loop) or schedule.legality.is_coincident(outer, tree):
        return False
    return any(name not in schedule.dependences.accumulations for name in tree.schedule)


@dataclass(frozen=True)
class _Moved:
    """An access in a loop along lines: its strides from line to line, and along them."""

    access: Access
    across: int
    along: int
    loop: str


@dataclass(frozen=True)
class _Sweep:
    """A loop over lines in the schedule that it was found in, with the loops around it."""

    schedule: Schedule
    around: tuple[Loop, ...]
    lines: Loop
    context: SchedulingContext

    @property
    def loop(self) -> str:
        """The loop over lines."""
        return f"{next(iter(self.lines.schedule))}.{self.lines.name}"

    @cached_property
    def leaves(self) -> list[tuple[StatementStatistics, tuple[Loop, ...]]]:
        """The statements, with the loops around them."""
        statistics = self.context.statistics(self.schedule.scop).statements
        return [
            (statistics[leaf.statement], loops) for leaf, loops in leaves(self.lines, self.around)
        ]

    @cached_property
    def moved(self) -> list[_Moved] | None:
        """All accesses along lines; None where lines are not all there is, or functions are called.

        These have enough to do while they wait.
        """
        depth = len(self.around) + 1
        statistics = self.context.statistics(self.schedule.scop)
        found: list[_Moved] = []
        for statement, loops in self.leaves:
            if len(loops) == depth:
                continue
            across, along = (statement.direction(loops, each) for each in (self.lines, loops[-1]))
            if len(loops) > depth + 1 or across is None or along is None:
                return None
            if self._calls_functions(statement.statement):
                return None
            found += [
                _Moved(
                    access,
                    statement.stride(access, across, statistics),
                    statement.stride(access, along, statistics),
                    f"{statement.statement.name}.{loops[-1].name}",
                )
                for access in statement.statement.accesses
            ]
        return found

    def _calls_functions(self, statement: Statement) -> bool:
        """Whether a statement calls elementary functions of what it loads."""
        varying = varying_results(statement, lambda load: frozenset())
        return any(
            elementary_cycles(operation, self.schedule.target, 1.0)
            for operation in statement.body
            if any(result in varying for result in operation.results)
        )

    def in_strips(self, schedule: Schedule) -> Schedule | None:
        """Strips of lines, in a schedule that other sweeps have changed, perhaps."""
        lanes = {schedule.target.lanes(each.access.array.element_type) for each in self.moved or ()}
        if self.moved is None or len(lanes) != 1:
            return None
        (block,) = lanes
        temporaries = self._temporaries()
        rest = [each for each in self.moved if each.access.array.name not in temporaries]
        rows = [each for each in rest if abs(each.across) > 1]
        if any(abs(each.along) != 1 for each in rows):
            return None
        width = self._width(block, temporaries, rows)
        if width is None:
            return None
        strip = StripMine((self.loop,), width)
        try:
            (strips,) = strip.resolve(schedule).new_loops(schedule)
            result = schedule.apply(strip)
            name = f"{next(iter(self.lines.schedule))}.{strips}"
            result = result.apply_all(
                Pack((name,), array, order) for array, order in temporaries.items()
            )
            result = result.apply(Vectorize((self.loop,), width))
            for loop in dict.fromkeys(each.loop for each in rows):
                result = attempt(result, Unroll((loop,), block)) or result
            return result.apply(Parallel((name,))) if self._is_parallel() else result
        except TransformationError:
            return None

    def _temporaries(self) -> dict[str, tuple[int, ...]]:
        """The arrays that are worth a buffer, each with the order of subscripts: lines last."""
        assert self.moved is not None
        written = {
            each.access.array.name for each in self.moved if each.access.kind is AccessKind.WRITE
        }
        found: dict[str, tuple[int, ...]] = {}
        for array in sorted(written):
            order = self._order(array)
            step = Pack((self.loop,), array, order or ())
            packed = attempt(self.schedule, step) if order else None
            if order and packed and self._is_contracted(packed, array):
                found[array] = order
        return found

    def _order(self, array: str) -> tuple[int, ...] | None:
        """The subscripts of an array with the one that tells lines apart last; None without one."""
        positions = set[int]()
        rank = 0
        for statement, loops in self.leaves:
            across = statement.direction(loops, self.lines)
            for access in statement.statement.accesses:
                if access.array.name == array and across is not None:
                    steps = subscript_steps(access, across)
                    moving = [k for k, step in enumerate(steps) if step]
                    if len(moving) != 1 or abs(steps[moving[0]]) != 1:
                        return None
                    positions.add(moving[0])
                    rank = len(steps)
        if len(positions) != 1 or rank < 2:
            return None
        (last,) = positions
        return (*(k for k in range(rank) if k != last), last)

    def _is_contracted(self, packed: Schedule, array: str) -> bool:
        """Whether a buffer starts empty, and is hardly ever copied out."""
        assert self.moved is not None
        statistics = self.context.statistics(packed.scop).statements
        copies = [statistics[name] for name in added_statements(self.schedule, packed)]
        is_read = any(
            copy.instances and access.array.name == array and access.kind is AccessKind.READ
            for copy in copies
            for access in copy.statement.accesses
        )
        writes = sum(
            statement.instances
            for statement, _ in self.leaves
            if any(access.array.name == array for access in statement.statement.writes)
        )
        return not is_read and sum(copy.instances for copy in copies) <= RARELY * writes

    def _width(
        self, block: int, temporaries: Mapping[str, tuple[int, ...]], rows: Sequence[_Moved]
    ) -> int | None:
        """Lines of a strip: as many as run in lockstep; None where there are too few lines."""
        assert self.moved is not None
        target = self.schedule.target
        if not rows:
            registers = target.vector_registers
            has_room = 2 * VECTORS * self._most_written() <= KEPT * registers
            vectors = VECTORS * (2 if registers >= MANY_REGISTERS and has_room else 1)
        else:
            vectors = VECTORS if self._waits_long(block, rows) else 1
        statement, loops = max(self.leaves, key=lambda leaf: len(leaf[1]))
        *_, lines, length = statement.trips(loops)
        arrays = {each.access.array.name: each.access.array for each in self.moved}
        line = length * sum(bytes_of(arrays[name].element_type) for name in temporaries)
        threads = self.context.threads if self._is_parallel() else 1
        width = vectors * block
        while width > block and (
            lines < 2 * threads * width or width * line > BUFFERS * target.capacity(2)
        ):
            width //= 2
        least = self._least_rows(rows)
        while width * target.vector_bits // block > LEAST_BITS and width > least:
            width //= 2
        return width if length >= block and lines >= threads * width else None

    def _least_rows(self, rows: Sequence[_Moved]) -> float:
        """Lines along rows of an array that are in the first-level cache at the same time."""
        return min(
            (
                rows_without_conflicts(
                    self.schedule.target,
                    abs(each.across) * bytes_of(each.access.array.element_type),
                )
                for each in rows
            ),
            default=inf,
        )

    def _most_written(self) -> int:
        """Arrays that a step along the lines writes, at most."""
        assert self.moved is not None
        written: dict[str, set[str]] = {}
        for statement, loops in self.leaves:
            inside = written.setdefault(loops[-1].name, set())
            inside |= {write.array.name for write in statement.statement.writes}
        return max(map(len, written.values()))

    def _waits_long(self, block: int, rows: Sequence[_Moved]) -> bool:
        """Whether a step along the lines waits for the one before longer than it transposes."""
        for statement, loops in self.leaves:
            if len(loops) > len(self.around) + 1:
                members = {f"{name}.{loops[-1].name}" for name in loops[-1].schedule}
                inside = [each.access for each in rows if each.loop in members]
                places = {(each.kind, each.array.name, each.map) for each in inside}
                waits = recurrence(self.schedule, [statement.statement.name], loops[-1])
                if waits > len(places) * (1 + log2(block)):
                    return True
        return False

    def _is_parallel(self) -> bool:
        """Whether threads are worth it, each time that the loops around come here."""
        instances = sum(statement.instances for statement, _ in self.leaves)
        statement, loops = self.leaves[0]
        executions = 1.0
        for trips in statement.trips(loops)[: len(self.around)]:
            executions *= trips
        return self.context.threads > 1 and instances >= LEAST_INSTANCES * executions
