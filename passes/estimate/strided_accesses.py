"""Port cycles of vectors of elements that are not neighbours: strides, gathers and scatters."""

from __future__ import annotations

from collections.abc import Collection
from itertools import count as integers
from itertools import takewhile
from math import ceil, gcd, log2
from typing import NamedTuple

from ..machine.machine import Machine
from ..polyhedral.schedule_tree import Loop, place_of
from ..polyhedral.scop import Access, AccessKind
from .elementwise_rows import is_elementwise
from .loops_around import LoopsAround, has_guarded_copies, unlike_masks
from .program_statistics import StatementStatistics, bytes_of
from .scheduled_program import ScheduledProgram

FEWEST_COLUMNS = 0.25
"""Gathers of neighbouring columns are loads of rows and a transposition from so many columns on, as
a share of the rows (`lowering.llvm.transposed_loads`)."""

LEAST_BLOCK_BITS = 256
"""A row of a block that is transposed fills a register, or several where these are shorter."""

BLOCK_ROWS = (4, 8, 16)
"""Rows of a block that is transposed, powers of two."""

BLOCKS = (1, 2, 4)
"""Blocks in the lanes of a vector."""

LARGEST_STRIDE = 4
"""In elements: what is further apart is gathered or scattered, unless others lie in between."""

LARGEST_ROW = 8
"""Elements of rows of which all columns are stored, or half of them loaded, together."""

EVICTED_STORE = 30.0
"""Cycles of a store whose line has been evicted; measured on a Zen 5, 31 from L2 and 43 from L3."""

STORES_UNDER_WAY = 8
"""Vectors of stores that may still wait for the cache when the next row begins."""

LEAST_SCATTERED = 4
"""Bytes of elements that scatters are made of; shorter ones are extracted one by one."""

EXTRACTED = 2.0
"""What a store of an extracted element costs, in stores."""

SHUFFLES_OF_LLVM = 1.5
"""What those of LLVM take, of which it has one for each other column of a row; measured with sums
of 16 and 48 terms, every second to fourth element, on a Zen 5."""


class Transfers(NamedTuple):
    """What moves elements between memory and vectors: loads or stores, and shuffles."""

    accesses: float
    shuffles: float = 0.0

    def times(self, factor: float) -> Transfers:
        """So many times as many."""
        return Transfers(self.accesses * factor, self.shuffles * factor)

    def mixed(self, other: Transfers, share: float) -> Transfers:
        """Those of which a share is of the other kind."""
        return Transfers(*(a + (b - a) * share for a, b in zip(self, other, strict=True)))


def apart(
    program: ScheduledProgram,
    access: Access,
    statement: StatementStatistics,
    around: LoopsAround,
    stride: int,
) -> Transfers:
    """What a vector of elements takes that are not neighbours.

    Elements a small stride apart are loaded, or stored together with those between them, in as
    many vectors, each of which is shuffled (`lowering.llvm.strided_accesses`).
    """
    assert around.vector is not None
    row = abs(stride)
    # LLVM shuffles no rows that it walks through backwards.
    is_reversed = around.vector.vector is None and stride < -1
    if is_reversed or row > (LARGEST_STRIDE if around.vector.vector is None else LARGEST_ROW):
        return _gather(program, access, statement, around)
    if is_elementwise(program, statement, around):
        return Transfers(registers_of(access, around, program.machine))
    if access.kind is AccessKind.READ and has_guarded_copies(statement, around):
        return Transfers(by_lane(program, access, around))
    is_forwards = stride > 0 or access.kind is AccessKind.READ
    columns = _columns_of_row(program, access, statement, around, row) if is_forwards else 1
    registers = registers_of(access, around, program.machine)
    if columns == row:
        is_loaded = access.kind is AccessKind.READ and not access.array.is_local
        if around.vector.vector is None and is_loaded:
            return Transfers(1, SHUFFLES_OF_LLVM * (row - 1)).times(registers)
        return Transfers(1, ceil(log2(row))).times(registers)
    if access.kind is AccessKind.READ and row <= LARGEST_STRIDE:
        waiting = _waits_for_columns(program, access, statement, around, row)
        wait = program.machine.loads_per_cycle * program.machine.masked_forwarding * waiting
        return Transfers(row + wait, max(1, row - 1)).times(registers)
    if access.kind is AccessKind.READ and 2 * columns >= row:
        return Transfers(row, row - 1).times(registers / columns)
    is_marked = around.vector.vector is not None and is_forwards
    if is_marked and access.kind is AccessKind.WRITE and _masks_rows(program, access, columns, row):
        return Transfers(row, row * ceil(log2(row))).times(registers / columns)
    return _gather(program, access, statement, around)


def _waits_for_columns(
    program: ScheduledProgram,
    read: Access,
    statement: StatementStatistics,
    around: LoopsAround,
    row: int,
) -> bool:
    """Whether rows are loaded of which the iteration before has scattered another column.

    A load of what several stores have written waits until they are in the cache; those at the
    other end of a long vector loop are.
    """
    assert around.vector is not None
    length = around.trips[place_of(around.vector, around.loops)] / around.lanes
    inner = [
        loop
        for loop, count in zip(around.loops, around.trips, strict=True)
        if loop is not around.vector
        and count > 1
        and not (loop.unroll == 0 and program.unrolls(loop))
    ]
    direction = statement.direction(around.loops, inner[-1]) if inner else None
    if direction is None or length > STORES_UNDER_WAY:
        return False
    written = any(
        write.array.name == read.array.name and write.coefficients == read.coefficients
        for write in statement.statement.writes
    )
    return written and 0 < abs(statement.stride(read, direction, program.statistics)) < row


def _masks_rows(program: ScheduledProgram, write: Access, columns: int, row: int) -> bool:
    """Whether some columns of rows are stored under a mask (`interleaved_stores.py`)."""
    size = bytes_of(write.array.element_type)
    return program.schedule.target.has_masked_stores(size) and masks_columns(columns, row, size)


def masks_columns(columns: int, row: int, size: int) -> bool:
    """Whether a mask is better than a scatter of so many columns: half of a row, or short ones."""
    return 2 * columns >= row or (size < LEAST_SCATTERED and row <= LARGEST_STRIDE)


def eviction(
    program: ScheduledProgram,
    write: Access,
    statement: StatementStatistics,
    around: LoopsAround,
    loop: Loop,
) -> float:
    """Cycles that a store waits where those of other iterations of a loop have evicted its line.

    Rows a large power of two apart are in few sets of a cache.
    """
    machine = program.machine
    size = bytes_of(write.array.element_type)
    direction = statement.direction(around.loops, loop)
    if direction is None:
        return 0.0
    stride = abs(statement.stride(write, direction, program.statistics)) * size
    if stride < machine.cache_line:
        return 0.0
    rows = around.trips[place_of(loop, around.loops)]
    is_evicted = any(
        rows * period > period // gcd(stride, period) * machine.caches[level]
        for level, period in machine.set_periods.items()
    )
    # Others may store the rest of the line at the same time.
    stored = _run(_stored_together(program, write, statement, around, loop)) if is_evicted else 0
    return EVICTED_STORE if is_evicted and stored * size < machine.cache_line else 0.0


def _stored_together(
    program: ScheduledProgram,
    write: Access,
    statement: StatementStatistics,
    around: LoopsAround,
    loop: Loop,
) -> set[int]:
    """Elements from a store to what statements and unrolled copies in a loop store as well."""
    distances = _distances(program, write, loop)
    line = program.machine.cache_line // bytes_of(write.array.element_type)
    for inner, trips in zip(around.loops, around.trips, strict=True):
        direction = statement.direction(around.loops, inner) if inner.unroll is not None else None
        if direction is None or inner is loop:
            continue
        step = statement.stride(write, direction, program.statistics)
        copies = range(int(min(inner.unroll or trips, trips)) if abs(step) < line else 0)
        distances |= {each + k * step for each in distances for k in copies}
    return distances


def by_lane(program: ScheduledProgram, access: Access, around: LoopsAround) -> float:
    """Operations for a vector that is gathered or scattered."""
    machine = program.machine
    if access.kind is AccessKind.READ:
        return machine.loads_per_cycle * machine.gather_cycles * around.lanes
    return machine.stores_per_cycle * _scatter_cycles(machine, access) * around.lanes


def registers_of(access: Access, around: LoopsAround, machine: Machine) -> float:
    """Vector registers that the elements of all lanes fill."""
    return max(1.0, around.lanes * 8 * bytes_of(access.array.element_type) / machine.vector_bits)


def _scatter_cycles(machine: Machine, write: Access) -> float:
    """Cycles for each lane that is scattered, or extracted and stored."""
    is_short = bytes_of(write.array.element_type) < LEAST_SCATTERED
    return machine.scatter_cycles * (EXTRACTED if is_short else 1.0)


def _columns_of_row(
    program: ScheduledProgram,
    access: Access,
    statement: StatementStatistics,
    around: LoopsAround,
    row: int,
) -> int:
    """How many of the columns of rows of so many elements are accessed together.

    By the iterations of unrolled loops, and the statements of the vector loop. Where it is marked,
    LLVM unrolls later than accesses are put together.
    """
    assert around.vector is not None
    is_marked = around.vector.vector is not None
    columns = {distance % row for distance in _distances(program, access, around.vector)}
    for loop, trips in zip(around.loops, around.trips, strict=True):
        is_copied = bool(loop.unroll) or (
            loop.unroll == 0 and (not is_marked or program.unrolls(loop))
        )
        direction = statement.direction(around.loops, loop) if is_copied else None
        if direction is not None and loop is not around.vector:
            step = statement.stride(access, direction, program.statistics)
            columns = {
                (each + k * step) % row
                for each in columns
                for k in range(loop.unroll or ceil(trips))
            }
    return len(columns)


def _gather(
    program: ScheduledProgram, access: Access, statement: StatementStatistics, around: LoopsAround
) -> Transfers:
    """What a vector of elements from as many rows takes: one access for each, as a rule.

    Where a marked vector loop reads neighbouring columns together, rows are loaded and transposed;
    where a block of them is written together, it is transposed and stored as rows. Not under masks
    that differ, as at the end of each row of a triangle.
    """
    machine, lanes = program.machine, around.lanes
    register = max(LEAST_BLOCK_BITS, machine.vector_bits)
    block = min(lanes, register / (8 * bytes_of(access.array.element_type)))
    together = _columns(program, access, statement, around)
    is_marked = around.vector is not None and around.vector.vector is not None
    scattered = Transfers(by_lane(program, access, around))
    if access.kind is AccessKind.WRITE:
        if around.vector is not None:
            evicted = eviction(program, access, statement, around, around.vector)
            waiting = machine.stores_per_cycle * evicted * lanes
            scattered = Transfers(scattered.accesses + waiting)
        if together.columns < block or _is_read_between(program, access, statement, around):
            return scattered
    step = machine.transposing_cycles / machine.cycles["shuffles"]

    def moved(columns: float) -> Transfers:
        columns = min(block, columns)
        if columns < max(2.0, FEWEST_COLUMNS * block) or not is_marked:
            return scattered
        return Transfers(block / columns, step * log2(block)).times(lanes / block)

    found = moved(together.columns).mixed(moved(together.rest), together.share)
    return found.mixed(scattered, unlike_masks(around)) if is_marked else found


def _is_read_between(
    program: ScheduledProgram, write: Access, statement: StatementStatistics, around: LoopsAround
) -> bool:
    """Whether the array is read between stores to neighbouring columns, which then cannot wait.

    What the iteration before has stored is in a register.
    """
    assert around.vector is not None
    steps = {
        statement.stride(write, direction, program.statistics)
        for loop in around.loops
        if loop.unroll is not None
        and (direction := statement.direction(around.loops, loop)) is not None
    }
    before = {(*write.constants[:-1], write.constants[-1] - step) for step in steps if step}
    return any(
        read.array.name == write.array.name
        and (read.coefficients != write.coefficients or read.constants not in before)
        for name in around.vector.schedule
        for read in program.statement(name).statement.reads
    )


class _Columns(NamedTuple):
    """Columns that are accessed together, as a rule; and in what is left over, a share of all."""

    columns: float
    rest: float = 0.0
    share: float = 0.0


def _columns(
    program: ScheduledProgram, access: Access, statement: StatementStatistics, around: LoopsAround
) -> _Columns:
    """How many neighbouring columns are accessed together: by unrolled loops, or by statements.

    What a loop with a constant trip count leaves over is unrolled, too.
    """
    assert around.vector is not None
    found = _Columns(_run(_distances(program, access, around.vector)))
    for loop, count in zip(around.loops, around.trips, strict=True):
        direction = None if loop.unroll is None else statement.direction(around.loops, loop)
        if direction is None:
            continue
        if abs(statement.stride(access, direction, program.statistics)) == 1:
            together = min(loop.unroll or count, count)
            # Where the trip counts differ, a loop leaves over anything below its unroll factor.
            is_constant = float(count).is_integer()
            rest = count % together if is_constant else ((loop.unroll or 1) - 1) / 2
            if together > found.columns and rest < count:
                found = _Columns(together, rest if is_constant else 1.0, rest / count)
    return found


def _distances(program: ScheduledProgram, access: Access, loop: Loop) -> set[int]:
    """Elements from an access to those like it in the statements of a loop."""
    pitches = program.statistics.pitches(access.array)
    return {
        sum(
            (there - here) * pitch
            for here, there, pitch in zip(access.constants, other.constants, pitches, strict=True)
        )
        for name in loop.schedule
        for other in program.statement(name).statement.accesses
        if other.kind is access.kind
        and other.array.name == access.array.name
        and other.coefficients == access.coefficients
    }


def _run(distances: Collection[int]) -> int:
    """The number of consecutive distances around zero."""
    return sum(
        len(list(takewhile(distances.__contains__, integers(first, step))))
        for first, step in ((0, 1), (-1, -1))
    )
