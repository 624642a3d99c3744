"""Contractions in perfect nests, the roles of their loops, and blocks of their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, prod

from ..estimate.program_statistics import ProgramStatistics, StatementStatistics, subscript_steps
from ..estimate.register_tile import ADDRESSING, RegisterTile
from ..estimate.scheduling_context import SchedulingContext
from ..machine.machine import Machine
from ..polyhedral.schedule_tree import Loop
from ..polyhedral.scop import Access
from ..schedules.schedule import Schedule
from .steps import Steps, split_parts

LEAST_LANES = 0.5
"""The part of a vector that must be used."""

LEAST_TERMS = 32
"""Terms of a sum that are worth the transposition of its result, or other products around it.

Where sums are shorter, the way through the result decides."""


LONGEST_UNROLLED = 8
"""Terms of a loop that is unrolled so that its conditions on rows are known."""


@dataclass(frozen=True)
class Contraction:
    """A reduction of products in a perfect nest, and its loops' roles (by name, outermost first).

    `extents` are the numbers of iterations, `iterators` the statement's own loops (counted from 0)
    that they are. `vector` is the loop whose neighbouring iterations are
    neighbouring elements of the result, or of one of its columns where the result `is_transposed`;
    `streamed` is what is read along it, `beside` what else is, and `rows` a loop that changes none
    of that. `terms` are the loops of the sum, and `others` all that remain. `unrolled` are terms
    with conditions on the rows, as padding has: they are known in each of the first and last rows.
    """

    statement: str
    extents: Mapping[str, int]
    iterators: Mapping[str, int]
    vector: str
    rows: str
    terms: tuple[str, ...]
    others: tuple[str, ...]
    streamed: Access
    broadcast: tuple[Access, ...]
    is_transposed: bool = False
    unrolled: tuple[str, ...] = ()
    beside: tuple[Access, ...] = ()

    @property
    def all_streamed(self) -> tuple[Access, ...]:
        """What is read along the vector loop."""
        return self.streamed, *self.beside


def recognise(
    schedule: Schedule,
    name: str,
    around: Sequence[Loop],
    statistics: ProgramStatistics,
    *,
    fixed: int = 0,
    transposed: bool = False,
    streams: int = 1,
) -> Contraction | None:
    """The contraction that a statement is in the loops around it, if it is one.

    The outermost `fixed` loops are left where they are. If `transposed`, vectors go down columns
    of the result, for operands that can't be read in vectors along its rows. At most so many
    `streams` are read along the vectors.
    """
    loops = {loop.name: loop for loop in around}
    accumulation = schedule.dependences.accumulations.get(name)
    statement = statistics.statements[name]
    if accumulation is None:
        return None
    iterators: dict[str, int] = {}
    for loop in around[fixed:]:
        iterator = statement.iterator_of(loop)
        if iterator is None:
            return None
        iterators[loop.name] = iterator
    trips = statement.trips(tuple(loops.values()))
    extents = {loop: round(count) for loop, count in zip(loops, trips, strict=True)}
    result = accumulation.store
    reads = [access for access in statement.statement.reads if access is not accumulation.load]
    movable = [loop.name for loop in around[fixed:]]
    free = [each for each in movable if selects(statement, loops[each], result)]
    terms = tuple(each for each in movable if each not in free)
    lanes = schedule.target.lanes(result.array.element_type)
    if transposed and prod(extents[each] for each in terms) < LEAST_TERMS:
        return None
    limits = _limits(statement, iterators)
    side_by_side = [
        each
        for each in free
        if all(t in terms and extents[t] <= LONGEST_UNROLLED for t in limits.get(each, ()))
    ]
    lanes_along = [each for each in free if each not in limits]
    for vector in (each for each in lanes_along if extents[each] >= lanes * LEAST_LANES):
        along = loops[vector]
        streamed = [access for access in reads if selects(statement, along, access)]
        rows = [
            each
            for each in side_by_side
            if each != vector and not any(selects(statement, loops[each], a) for a in streamed)
        ]
        is_row = is_contiguous(statement, along, result)
        moves = sum(map(bool, subscript_steps(result, statement.slopes(along))))
        fits = moves == 1 and not is_row if transposed else is_row
        if fits and 1 <= len(streamed) <= streams and rows and terms:
            # The rows of a transposed block are parts of columns of the result as it is stored.
            stored = [r for r in rows if is_contiguous(statement, loops[r], result)]
            tallest = max(stored or rows, key=lambda each: extents[each])
            return Contraction(
                name,
                {each: extents[each] for each in movable},
                iterators,
                vector,
                tallest,
                terms,
                tuple(each for each in free if each not in (vector, tallest)),
                streamed[0],
                tuple(access for access in reads if access not in streamed),
                transposed,
                limits.get(tallest, ()),
                tuple(streamed[1:]),
            )
    return None


def _limits(
    statement: StatementStatistics, iterators: Mapping[str, int]
) -> dict[str, tuple[str, ...]]:
    """The loops whose range depends on others, with these."""
    names = {iterator: name for name, iterator in iterators.items()}
    return {
        names[position]: tuple(name for name, k in iterators.items() if k in others)
        for position, others in statement.limits.items()
        if position in names
    }


def selects(statement: StatementStatistics, loop: Loop, access: Access) -> bool:
    """Whether an access goes to other elements from one iteration of the loop to the next."""
    return any(subscript_steps(access, statement.slopes(loop)))


def stride_along(
    found: Contraction, access: Access, loop: str, statistics: ProgramStatistics
) -> int:
    """By how many elements an access moves from one iteration of a loop to the next."""
    statement = statistics.statements[found.statement]
    position = found.iterators[loop]
    direction = [int(k == position) for k in range(len(statement.statement.loops))]
    return statement.stride(access, direction, statistics)


def is_contiguous(statement: StatementStatistics, loop: Loop, access: Access) -> bool:
    """Whether an access goes from one element of a row to the next."""
    steps = subscript_steps(access, statement.slopes(loop))
    return steps[-1:] == [1] and not any(steps[:-1])


def tile_of(
    found: Contraction,
    vectors: int,
    context: SchedulingContext,
    machine: Machine,
    tallest: int | None = None,
) -> RegisterTile:
    """The register tile of a result with so many vectors in a row."""
    rows = found.extents[found.rows]
    fitting = (machine.vector_registers - ADDRESSING) // rows
    if found.unrolled and fitting:
        return RegisterTile(rows, min(vectors, fitting))
    depth = prod(found.extents[name] for name in found.terms)
    streams = len(found.all_streamed)
    return context.register_tile(found.statement, rows, vectors, depth, machine, tallest, streams)


class BlockSteps(Steps):
    """Transformations of blocks of a result."""

    def split_blocks(
        self, found: Contraction, blocks: str, tile: RegisterTile, context: SchedulingContext
    ) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Splits off the first and the last block of rows, if there are conditions in them.

        The statement in each part, and its loops over terms that have conditions with rows.
        """
        count = ceil(found.extents[found.rows] / tile.rows)
        places = sorted({1, count - 1}) if found.unrolled and count > 1 else ()
        self.schedule, parts = split_parts(self.schedule, self.statement, blocks, map(str, places))
        statistics = context.statistics(self.schedule.scop)
        for part in parts:
            limits = statistics.statements[part].limits
            yield part, found.unrolled if found.iterators[found.rows] in limits else ()
