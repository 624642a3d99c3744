"""Port cycles of loads and stores, with all data in the first-level cache."""

from __future__ import annotations

from collections.abc import Container, Hashable, Mapping, Sequence
from functools import lru_cache
from math import ceil, log2, prod

from ..machine.machine import Machine
from ..polyhedral.rounded_subscripts import is_even
from ..polyhedral.schedule_tree import Loop, leaves, place_of
from ..polyhedral.scop import Access, AccessKind
from .loops_around import LoopsAround, masked_share
from .program_statistics import (
    Slope,
    StatementStatistics,
    bytes_of,
    rounded_step,
    subscript_steps,
)
from .rows_in_lanes import Neighbour, is_made_anew, neighbours
from .scheduled_program import ScheduledProgram, innermost_loop
from .strided_accesses import (
    BLOCK_ROWS,
    LARGEST_ROW,
    LEAST_BLOCK_BITS,
    Transfers,
    apart,
    by_lane,
    eviction,
    registers_of,
)

OVERLAPPING_STORES = 4.0
"""What two stores cost that cover leading lanes, and the shuffles before them, in stores."""


def port_cycles(
    program: ScheduledProgram,
    statement: StatementStatistics,
    around: LoopsAround,
    done: set[Hashable],
    handed: Container[tuple[str, Access]] = (),
) -> tuple[float, float]:
    """Cycles that load and store ports, and shuffles, need for a vector of instances.

    What is in a register, as it is `done`, costs no load; what is `handed` on in one costs nothing.
    """
    machine = program.machine
    costs = dict.fromkeys(AccessKind, 0.0)
    shuffles = 0.0
    in_place = _rows_in_lanes(program, statement, around)
    masked = masked_share(around) * (_masked_store(machine, around) - 1)
    for access in statement.statement.accesses:
        place = access.array.name, access.map
        if access.kind is AccessKind.READ and place in done:
            continue
        done.add(place)
        if (statement.statement.name, access) in handed:
            continue
        moved = (
            _transfers(program, access, statement, around)
            if in_place is None
            else _in_rows(program, access, statement, around, in_place)
        )
        operations, shuffles = moved.accesses, shuffles + moved.shuffles
        costs[access.kind] += operations
        if access.kind is AccessKind.WRITE:
            costs[access.kind] += operations * masked * machine.stores_per_cycle
            innermost = innermost_loop(around.loops)
            if innermost is not None and _is_scalar(around):
                waiting = eviction(program, access, statement, around, innermost)
                costs[access.kind] += waiting * machine.stores_per_cycle
    ports = max(
        costs[AccessKind.READ] / machine.loads_per_cycle,
        costs[AccessKind.WRITE] / machine.stores_per_cycle,
    )
    return ports, shuffles * machine.cycles["shuffles"]


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
) -> Transfers:
    """What an access takes in a sweep with a row in each lane (`lowering.memory`).

    What is loaded or stored is transposed, block by block; the rest are shuffles of vectors.
    """
    read = in_place.get(access)
    if read is not None and not is_made_anew(read, in_place.values()):
        return Transfers(0.0)
    if read is not None and read.rows:
        return Transfers(1, registers_of(access, around, program.machine))
    assert around.vector is not None
    direction = statement.direction(around.loops, around.vector)
    if (
        direction is None
        or abs(statement.stride(access, direction, program.statistics)) <= LARGEST_ROW
    ):
        return _transfers(program, access, statement, around)
    bits = max(LEAST_BLOCK_BITS, program.machine.vector_bits)
    block = min(BLOCK_ROWS[-1], bits / (8 * bytes_of(access.array.element_type)))
    return Transfers(1, log2(block)).times(around.lanes / block)


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


def _transfers(
    program: ScheduledProgram, access: Access, statement: StatementStatistics, around: LoopsAround
) -> Transfers:
    """What an access takes per vector of instances: less where a register is used again."""
    cost, vector = 1.0, Transfers(1)
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
                vector = Transfers(by_lane(program, access, around))
            elif stride not in (0, 1):
                vector = apart(program, access, statement, around, stride)
            elif not stride:
                if loop.unroll == 0 or any(loop is each for each in kept):
                    cost /= max(1.0, count / around.lanes)
            else:
                cost *= registers_of(access, around, machine)
                # A vector that begins anywhere may cross the end of a line.
                lanes = loop.vector or 2 ** ceil(log2(around.lanes))
                size = min(machine.vector_bits / 8, lanes * bytes_of(access.array.element_type))
                cost *= 1 + (not access.array.is_local) * size / machine.cache_line
        elif stride == 0 and (loop.unroll == 0 or any(loop is each for each in kept)):
            cost /= max(1.0, count)
        elif stride == 0 and loop.unroll:
            cost /= min(loop.unroll, max(1.0, count))
    return vector.times(cost)


def _strides(
    program: ScheduledProgram, access: Access, statement: StatementStatistics, around: LoopsAround
) -> list[int]:
    """By how many elements an access moves along each of the loops; 1 where that is not known."""
    strides = [
        1 if direction is None else statement.stride(access, direction, program.statistics)
        for loop in around.loops
        for direction in [_direction(statement, around, loop)]
    ]
    is_apart = any(
        loop is around.vector and stride not in (0, 1)
        for loop, stride in zip(around.loops, strides, strict=True)
    )
    # A private array is another one in each iteration, and so is a vector of apart elements.
    return [
        int(_is_moved(access, statement, around, loop))
        if not stride and (is_apart or (loop.unroll and access.array.is_local))
        else stride
        for loop, stride in zip(around.loops, strides, strict=True)
    ]


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
    own = next(
        each.statement.accesses
        for each in map(program.statement, beside)
        if access in each.statement.accesses
    )
    for statement in map(program.statement, beside):
        for other in statement.statement.accesses:
            is_same = other.array.name == access.array.name
            if is_same and other in own and _never_meet(access, other):
                continue  # A[i, j] -= A[i, k] * A[k, j] for k < i, j
            if is_same and AccessKind.WRITE in (access.kind, other.kind):
                # One that runs in one iteration of a loop is peeled off.
                others = zip(strides, _strides(program, other, statement, around), strict=True)
                if any(
                    mine != theirs and _direction(statement, around, loop) is not None
                    for loop, (mine, theirs) in zip(around.loops, others, strict=True)
                ):
                    return True
    return False


@lru_cache(maxsize=256)
def _never_meet(one: Access, other: Access) -> bool:
    """Whether no instance of a statement touches the same element with both of its accesses."""
    return one.relation.is_disjoint(other.relation)


def _registers(strides: Sequence[int], around: LoopsAround) -> int:
    """Registers for all that an access touches in one iteration of the innermost loop."""
    inner = innermost_loop(around.loops)
    innermost = 0 if inner is None else place_of(inner, around.loops)
    return prod(
        ceil(copies / (loop.vector or around.lanes if loop is around.vector else 1))
        for depth, (loop, count, stride) in enumerate(
            zip(around.loops, around.trips, strides, strict=True)
        )
        # Copies of an outer loop that are jammed into the innermost one are there together.
        for copies in [min(count, loop.unroll or count)]
        if stride and (loop.unroll == 0 or (loop.unroll and depth < innermost))
    )
