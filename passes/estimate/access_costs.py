"""Port cycles of loads and stores, with all data in the first-level cache."""

from __future__ import annotations

from collections.abc import Container, Hashable, Mapping, Sequence
from math import ceil, gcd, log2, prod

from ..machine.machine import Machine
from ..polyhedral.rounded_subscripts import is_even
from ..polyhedral.schedule_tree import Loop, leaves, place_of
from ..polyhedral.scop import Access, AccessKind
from .loops_around import LoopsAround, has_guarded_copies, masked_share
from .program_statistics import (
    ProgramStatistics,
    Slope,
    StatementStatistics,
    bytes_of,
    rounded_step,
    subscript_steps,
)
from .rows_in_lanes import Neighbour, is_made_anew, neighbours
from .scheduled_program import ScheduledProgram, innermost_loop

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

OVERLAPPING_STORES = 4.0
"""What two stores cost that cover leading lanes, and the shuffles before them, in stores."""

EVICTED_STORE = 30.0
"""Cycles of a store whose line has been evicted; measured on a Zen 5, 31 from L2 and 43 from L3."""

TRANSPOSING = 2.0
"""What a step of the transposition of a block costs for each vector, in loads."""

LEAST_SCATTERED = 4
"""Bytes of elements that scatters are made of; shorter ones are extracted one by one."""

EXTRACTED = 2.0
"""What a store of an extracted element costs, in stores."""

SHUFFLES_PER_LOAD = 1.0
"""What a shuffle costs, in loads."""


def port_cycles(
    program: ScheduledProgram,
    statement: StatementStatistics,
    around: LoopsAround,
    done: set[Hashable],
    handed: Container[tuple[str, Access]] = (),
) -> float:
    """Cycles that load and store ports need for a vector of instances of a statement.

    What is in a register, as it is `done`, costs no load; what is `handed` on in one costs nothing.
    """
    machine = program.machine
    costs = dict.fromkeys(AccessKind, 0.0)
    in_place = _rows_in_lanes(program, statement, around)
    masked = masked_share(around) * (_masked_store(machine, around) - 1)
    for access in statement.statement.accesses:
        place = access.array.name, access.map
        if access.kind is AccessKind.READ and place in done:
            continue
        done.add(place)
        if (statement.statement.name, access) in handed:
            continue
        operations = (
            _operations(program, access, statement, around)
            if in_place is None
            else _in_rows(program, access, statement, around, in_place)
        )
        costs[access.kind] += operations
        if access.kind is AccessKind.WRITE:
            costs[access.kind] += operations * masked * machine.stores_per_cycle
            innermost = innermost_loop(around.loops)
            if innermost is not None and _is_scalar(around):
                waiting = _eviction(program, access, statement, around, innermost)
                costs[access.kind] += waiting * machine.stores_per_cycle
    return max(
        costs[AccessKind.READ] / machine.loads_per_cycle,
        costs[AccessKind.WRITE] / machine.stores_per_cycle,
    )


def _rows_in_lanes(
    program: ScheduledProgram, statement: StatementStatistics, around: LoopsAround
) -> Mapping[Access, Neighbour] | None:
    """What a sweep in place with a row in each lane reads of its array; None for others."""
    vector = around.vector
    kept = [loop for loop in around.loops if loop is not vector and loop.unroll != 0]
    if vector is None or vector.vector is None or len(vector.schedule) > 1 or not kept:
        return None
    is_inside = place_of(vector, around.loops) > place_of(kept[-1], around.loops)
    if is_inside and around.trips[place_of(vector, around.loops)] > vector.vector:
        return None  # Other rows follow before the next step.
    down, along = (statement.direction(around.loops, loop) for loop in (vector, kept[-1]))
    if down is None or along is None:
        return None
    return neighbours(program.statistics, statement, down, along)


def _in_rows(
    program: ScheduledProgram,
    access: Access,
    statement: StatementStatistics,
    around: LoopsAround,
    in_place: Mapping[Access, Neighbour],
) -> float:
    """Operations of an access in a sweep with a row in each lane (`lowering.memory`).

    What is loaded or stored is transposed, block by block; the rest are shuffles of vectors.
    """
    read = in_place.get(access)
    if read is not None and not is_made_anew(read, in_place.values()):
        return 0.0
    if read is not None and read.rows:
        return 1 + SHUFFLES_PER_LOAD * _registers_of(access, around, program.machine)
    assert around.vector is not None
    direction = statement.direction(around.loops, around.vector)
    if (
        direction is None
        or abs(statement.stride(access, direction, program.statistics)) <= LARGEST_ROW
    ):
        return _operations(program, access, statement, around)
    bits = max(LEAST_BLOCK_BITS, program.machine.vector_bits)
    block = min(BLOCK_ROWS[-1], bits / (8 * bytes_of(access.array.element_type)))
    return around.lanes / block * (1 + log2(block))


def _is_scalar(around: LoopsAround) -> bool:
    """Whether there is no vector loop but one of copies that LLVM packs."""
    vector = around.vector
    return vector is None or (vector.vector is None and vector.unroll == 0)


def _masked_store(machine: Machine, around: LoopsAround) -> float:
    """Cycles of a store of which only some lanes count.

    Where the number of these is known, there are two that overlap (`lowering.llvm.leading_lanes`);
    a trip count that is whole on average is taken to be always the same.
    """
    is_known = all(
        count.is_integer()
        for loop, count in zip(around.loops, around.trips, strict=True)
        if loop is around.vector
    )
    cycles = machine.masked_store_cycles
    return min(OVERLAPPING_STORES, cycles) if is_known else cycles


def _operations(
    program: ScheduledProgram, access: Access, statement: StatementStatistics, around: LoopsAround
) -> float:
    """Loads or stores per vector of instances: fewer where a register is used again."""
    cost = 1.0
    machine = program.machine
    strides = _strides(program, access, statement, around)
    kept: list[Loop] = []
    # What is used again stays in registers, where they hold all of it.
    is_uneven = around.vector is not None and _is_uneven(access, statement, around)
    if not is_uneven and _registers(strides, around) <= machine.vector_registers:
        kept = _loops_that_use_again(strides, around)
        if kept and _is_stored_between(program, access, strides, around):
            kept = []
    for loop, count, stride in zip(around.loops, around.trips, strides, strict=True):
        if loop is around.vector:
            if is_uneven:
                cost *= _by_lane(program, access, around)
            elif stride not in (0, 1):
                cost *= _apart(program, access, statement, around, stride)
            elif not stride:
                if loop.unroll == 0 or any(loop is each for each in kept):
                    cost /= max(1.0, count / around.lanes)
            else:
                cost *= _registers_of(access, around, machine)
                # A vector that begins anywhere may cross the end of a line.
                lanes = loop.vector or 2 ** ceil(log2(around.lanes))
                size = min(machine.vector_bits / 8, lanes * bytes_of(access.array.element_type))
                cost *= 1 + (not access.array.is_local) * size / machine.cache_line
        elif stride == 0 and (loop.unroll == 0 or any(loop is each for each in kept)):
            cost /= max(1.0, count)
        elif stride == 0 and loop.unroll:
            cost /= min(loop.unroll, max(1.0, count))
    return cost


def _strides(
    program: ScheduledProgram, access: Access, statement: StatementStatistics, around: LoopsAround
) -> list[int]:
    """By how many elements an access moves along each of the loops; 1 where that is not known."""
    strides = [
        1 if direction is None else statement.stride(access, direction, program.statistics)
        for loop in around.loops
        for direction in [_direction(statement, around, loop)]
    ]
    if any(
        loop is around.vector and stride not in (0, 1)
        for loop, stride in zip(around.loops, strides, strict=True)
    ):
        # A private array is another one in each iteration, and so is a vector of apart elements.
        strides = [
            stride or int(_is_moved(access, statement, around, loop))
            for loop, stride in zip(around.loops, strides, strict=True)
        ]
    return strides


def _is_moved(
    access: Access, statement: StatementStatistics, around: LoopsAround, loop: Loop
) -> bool:
    """Whether the subscripts differ in the iterations of a loop, also where storage does not."""
    direction = _direction(statement, around, loop)
    return direction is not None and any(subscript_steps(access, direction))


def _direction(
    statement: StatementStatistics, around: LoopsAround, loop: Loop
) -> tuple[Slope, ...] | None:
    """By how much the iterators grow along a loop; by a tile along a tile loop in lanes."""
    if loop is around.vector:
        return statement.motion(around.loops, loop)
    return statement.direction(around.loops, loop)


def _is_uneven(access: Access, statement: StatementStatistics, around: LoopsAround) -> bool:
    """Whether quotients and remainders leave lanes of a vector loop at different distances."""
    assert around.vector is not None
    trips = around.trips[place_of(around.vector, around.loops)]
    direction = _direction(statement, around, around.vector)
    step = None if direction is None else rounded_step(access, direction)
    return step is not None and not is_even(access.map, step, ceil(trips))


def _by_lane(program: ScheduledProgram, access: Access, around: LoopsAround) -> float:
    """Operations for a vector that is gathered or scattered."""
    machine = program.machine
    if access.kind is AccessKind.READ:
        return machine.loads_per_cycle * machine.gather_cycles * around.lanes
    return machine.stores_per_cycle * _scatter_cycles(machine, access) * around.lanes


def _scatter_cycles(machine: Machine, write: Access) -> float:
    """Cycles for each lane that is scattered, or extracted and stored."""
    is_short = bytes_of(write.array.element_type) < LEAST_SCATTERED
    return machine.scatter_cycles * (EXTRACTED if is_short else 1.0)


def _loops_that_use_again(strides: Sequence[int], around: LoopsAround) -> list[Loop]:
    """The innermost loops, as many as there are, in which an access stays where it is."""
    kept: list[Loop] = []
    for loop, stride in zip(reversed(around.loops), reversed(strides), strict=True):
        if loop.unroll == 0:
            continue
        if stride:
            break
        kept.append(loop)
    return kept


def _is_stored_between(
    program: ScheduledProgram, access: Access, strides: Sequence[int], around: LoopsAround
) -> bool:
    """Whether other statements of the innermost loop move differently along the same array.

    They may store what the access loads, or load what it stores, which then stays in memory.
    """
    beside = [leaf.statement for leaf, inside in leaves(around.loops[-1].body, ()) if not inside]
    for statement in map(program.statement, beside):
        for other in statement.statement.accesses:
            is_same = other.array.name == access.array.name
            if is_same and AccessKind.WRITE in (access.kind, other.kind):
                # One that runs in one iteration of a loop is peeled off.
                others = zip(strides, _strides(program, other, statement, around), strict=True)
                if any(
                    mine != theirs and _direction(statement, around, loop) is not None
                    for loop, (mine, theirs) in zip(around.loops, others, strict=True)
                ):
                    return True
    return False


def _registers(strides: Sequence[int], around: LoopsAround) -> int:
    """Registers for all that an access touches in one iteration of the innermost loop."""
    return prod(
        ceil(count / (loop.vector or around.lanes if loop is around.vector else 1))
        for loop, count, stride in zip(around.loops, around.trips, strides, strict=True)
        if loop.unroll == 0 and stride
    )


def _registers_of(access: Access, around: LoopsAround, machine: Machine) -> float:
    """Vector registers that the elements of all lanes fill."""
    return max(1.0, around.lanes * 8 * bytes_of(access.array.element_type) / machine.vector_bits)


def _apart(
    program: ScheduledProgram,
    access: Access,
    statement: StatementStatistics,
    around: LoopsAround,
    stride: int,
) -> float:
    """Operations for a vector of elements that are not neighbours.

    Elements a small stride apart are loaded, or stored together with those between them, in as
    many vectors, each of which is shuffled (`lowering.llvm.strided_accesses`).
    """
    row = abs(stride)
    if row > LARGEST_ROW:
        return _gather(program, access, statement, around)
    if access.kind is AccessKind.READ and has_guarded_copies(statement, around):
        return _by_lane(program, access, around)
    is_forwards = stride > 0 or access.kind is AccessKind.READ
    columns = _columns_of_row(program, access, statement, around, row) if is_forwards else 1
    registers = _registers_of(access, around, program.machine)
    if columns == row:
        # Longer rows are transposed, step by step.
        shuffles = (row - 1) / row if row <= LARGEST_STRIDE else log2(row)
        return registers * (1 + SHUFFLES_PER_LOAD * shuffles)
    if access.kind is AccessKind.READ and row <= LARGEST_STRIDE:
        return registers * (row + SHUFFLES_PER_LOAD * max(1, row - 1))
    if access.kind is AccessKind.READ and 2 * columns >= row:
        return registers * (row + SHUFFLES_PER_LOAD * (row - 1)) / columns
    return _gather(program, access, statement, around)


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
    statistics = program.statistics
    is_marked = around.vector.vector is not None
    pitches = statistics.pitches(access.array)
    columns = {
        sum(c * pitch for c, pitch in zip(other.constants, pitches, strict=True)) % row
        for name in around.vector.schedule
        for other in program.statement(name).statement.accesses
        if other.kind is access.kind
        and other.array.name == access.array.name
        and other.coefficients == access.coefficients
    }
    for loop, count in zip(around.loops, around.trips, strict=True):
        is_copied = loop.unroll == 0 and (not is_marked or program.unrolls(loop))
        direction = statement.direction(around.loops, loop) if is_copied else None
        if direction is not None and loop is not around.vector:
            step = statement.stride(access, direction, statistics)
            columns = {(each + k * step) % row for each in columns for k in range(ceil(count))}
    return len(columns)


def _gather(
    program: ScheduledProgram, access: Access, statement: StatementStatistics, around: LoopsAround
) -> float:
    """Operations for a vector of elements from as many rows: one for each, as a rule.

    Where a marked vector loop reads neighbouring columns together, rows are loaded and transposed;
    where a block of them is written together, it is transposed and stored as rows.
    """
    machine, lanes = program.machine, around.lanes
    register = max(LEAST_BLOCK_BITS, machine.vector_bits)
    block = min(lanes, register / (8 * bytes_of(access.array.element_type)))
    columns, alone = _columns(program.statistics, access, statement, around)
    columns = min(block, columns)
    is_marked = around.vector is not None and around.vector.vector is not None
    apart = _by_lane(program, access, around)
    if access.kind is AccessKind.WRITE:
        if around.vector is not None:
            evicted = _eviction(program, access, statement, around, around.vector)
            apart += machine.stores_per_cycle * evicted * lanes
        if columns < block or _is_read_between(program, access, statement, around):
            return apart
    if columns < max(2.0, FEWEST_COLUMNS * block) or not is_marked:
        return apart
    transposed = lanes / block * (block / columns + TRANSPOSING * log2(block))
    return alone * apart + (1 - alone) * transposed


def _eviction(
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
    rows = around.trips[place_of(loop, around.loops)]
    for level, period in machine.set_periods.items():
        places = period // gcd(stride, period)
        if stride >= machine.cache_line and rows * period > places * machine.caches[level]:
            return EVICTED_STORE
    return 0.0


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


def _columns(
    statistics: ProgramStatistics,
    access: Access,
    statement: StatementStatistics,
    around: LoopsAround,
) -> tuple[float, float]:
    """How many neighbouring columns are accessed together, by loops that are unrolled.

    And what share of them is left over, to be accessed alone.
    """
    columns, alone = 1.0, 0.0
    for loop, count in zip(around.loops, around.trips, strict=True):
        direction = None if loop.unroll is None else statement.direction(around.loops, loop)
        if direction is not None and abs(statement.stride(access, direction, statistics)) == 1:
            together = min(loop.unroll or count, count)
            # Where the trip counts differ, a loop leaves over anything below its unroll factor.
            rest = count % together if float(count).is_integer() else ((loop.unroll or 1) - 1) / 2
            if together > columns and rest < count:
                columns, alone = together, rest / count
    return columns, alone
