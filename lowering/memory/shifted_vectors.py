"""Loop-carried vector shifts: neighbours along a row from vectors of earlier iterations.

    for j step 8:                          %0 = load A[lower - 7 ...]
      %l = load A[j - 1]                   for j step 8 iter_args(%p = %0):
      %m = load A[j]                 ->      %r = load A[j + 1]
      %r = load A[j + 1]                     %l = shuffle %p, %r [6, ..., 13]
                                             %m = shuffle %p, %r [7, ..., 14]
                                             yield %r

A load across the border of a cache line costs two, and where vectors are as long as lines all but
one of the neighbours are such loads. A load of elements from two stores that are still under way
waits until both are in the cache; so statements of which one reads what another has stored a vector
before, as time steps of a stencil do in one loop, exchange their values in registers (Li et al.,
"An efficient vectorization scheme for stencil computation", IPDPS 2022).

Vectors of every second element (or every third ...) are rows of their own. Where a loop updates one
of them and reads the others, as sweeps over one of two colours do, a load of neighbours on the left
would meet what was stored last, under a mask, and wait for it:

    for j step 16:                              for j step 16 iter_args(%p = %0):
      %l = gather A[j - 1] [0, 2, ..., 14]        %r = gather A[j + 1] [0, 2, ..., 14]
      %r = gather A[j + 1] [0, 2, ..., 14]  ->    %l = shuffle %p, %r [7, ..., 14]
      scatter A[j] [0, 2, ..., 14], %v            scatter A[j] [0, 2, ..., 14], %v
                                                  yield %r
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import func
from xdsl.dialects import vector as xdsl_vector
from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import affine
from ...dialects.vector import is_vector
from ...passes.estimate.program_statistics import bytes_of
from ...passes.machine.target import Target
from ..loops.alias_analysis import Numbering, Place, PlacedAccess
from ..loops.ir_builder import IRBuilder
from ..loops.operations import operations
from ..loops.place_access import load, stored_value
from ..nest.index_bounds import is_never_negative
from ..nest.index_expression import Comparison, Connective, Index
from .carried_values import carrying, replace_loop

DEPTH = 2
"""Vectors of one row that are carried at most."""

SHARE = 0.5
"""The part of the vector registers that may hold carried vectors."""

LEAST_BYTES = 4
"""Processors shift shorter elements across a whole vector in several operations."""

SHORTEST = 4
"""Iterations of a loop for which it is worth to load vectors before it."""


@dataclass(frozen=True)
class _Access:
    """A load or store of a row: its place in the body, and its first lane from the variable."""

    position: int
    offset: int
    operation: Operation

    @property
    def is_store(self) -> bool:
        return not self.operation.results

    @property
    def value(self) -> SSAValue:
        return stored_value(self.operation) if self.is_store else self.operation.results[0]


@dataclass(frozen=True)
class _Row:
    """The accesses of one row with vectors of one kind; `place` is that of offset 0.

    Lanes are `stride` elements of the array apart.
    """

    place: Place
    stride: int
    accesses: list[_Access]


@dataclass(frozen=True)
class _Window:
    """Loads that find their elements in the vectors of `producer`, this one and earlier ones."""

    row: _Row
    producer: _Access
    loads: tuple[_Access, ...]

    @property
    def width(self) -> int:
        return self.row.place.width

    @property
    def depth(self) -> int:
        """How many earlier vectors are needed."""
        return max(self.age(access) for access in self.loads)

    def age(self, access: _Access) -> int:
        """How many iterations before the vector was made that has the load's first element."""
        return _age(self.producer, access, self.width)


def _age(producer: _Access, access: _Access, width: int) -> int:
    return -((access.offset - producer.offset) // width)


def carry_shifted_vectors(function: func.FuncOp, target: Target) -> None:
    """Replaces loads by shuffles of carried vectors in all innermost loops, in place."""
    numbering = Numbering()
    for loop in [op for op in operations(function) if isinstance(op, affine.ForOp)]:
        if loop.step.value.data > 1 and not any(op.regions for op in loop.body.block.ops):
            _carry_in(loop, function.body.block, numbering, target)


def _carry_in(loop: affine.ForOp, entry: Block, numbering: Numbering, target: Target) -> None:
    numbering.go_to(loop)
    lowers = numbering.results(loop.lowerBoundMap, loop.lowerBoundOperands)
    uppers = numbering.results(loop.upperBoundMap, loop.upperBoundOperands)
    lengths = [upper - lower for upper in uppers for lower in lowers]
    enough = SHORTEST * loop.step.value.data
    if len(lowers) != 1 or any(each.is_constant and each.constant < enough for each in lengths):
        return
    ranges = numbering.ranges(loop)
    runs = [
        Comparison(">=", each - 1)
        for each in lengths
        if not numbering.is_positive(each) and not is_never_negative(each - 1, ranges)
    ]
    windows = list(_affordable(_windows(loop, numbering, target), target))
    if not windows or (runs and loop.results):
        return

    def place(builder: IRBuilder) -> None:
        _rewrite(builder, loop, windows, lowers[0], numbering)

    replace_loop(loop, entry, numbering, Connective("all", tuple(runs)), place)


def _affordable(windows: Sequence[_Window], target: Target) -> Iterator[_Window]:
    """As many windows as there are registers for, those that save most first."""
    room = int(SHARE * target.vector_registers)
    for window in sorted(windows, key=lambda w: w.depth / len(w.loads)):
        if window.depth <= room:
            room -= window.depth
            yield window


def _windows(loop: affine.ForOp, numbering: Numbering, target: Target) -> list[_Window]:
    block = loop.body.block
    (variable,) = numbering.index(block.args[0]).variables()
    order = {operation: position for position, operation in enumerate(block.ops)}
    result: list[_Window] = []
    for group in numbering.accesses(block).values():
        for row in _rows(group, variable, loop.step.value.data, order):
            inside = {access.operation for access in row.accesses}
            others = [a.place for a in group if a.is_store and a.operation not in inside]
            if all(_is_another_row(row, other, variable) for other in others):
                result += _of_row(row, target)
    return result


def _rows(
    group: Sequence[PlacedAccess], variable: int, step: int, order: dict[Operation, int]
) -> list[_Row]:
    """The unmasked vectors of a memref that follow each other from iteration to iteration."""
    rows: list[_Row] = []
    for access in group:
        place = access.place
        if not is_vector(place.type) or place.mask is not None:
            continue
        *outer, last = place.subscripts
        stride, factor = _stride(place), last.coefficient(variable)
        if (
            stride is None
            or factor is None
            or place.width * stride != step * factor
            or bytes_of(place.type.element_type) < LEAST_BYTES
            or any(each.coefficient(variable) != 0 for each in outer)
        ):
            continue
        offset = last.constant // stride
        origin = replace(place, subscripts=(*outer, last - offset * stride))
        row = next((row for row in rows if row.place.is_same(origin)), None)
        if row is None:
            rows.append(row := _Row(origin, stride, []))
        row.accesses.append(_Access(order[access.operation], offset, access.operation))
    return rows


def _stride(place: Place) -> int | None:
    """By how many elements the lanes of a place go on; None where not all of them go so far on."""
    if place.offsets is None:
        return 1
    stride = place.offsets[-1] // max(1, place.width - 1)
    is_even = all(offset == lane * stride for lane, offset in enumerate(place.offsets))
    return stride if is_even and stride > 0 else None


def _is_another_row(row: _Row, other: Place, variable: int) -> bool:
    """Whether a row has no elements in common with another place, in whichever iterations."""
    *outer, last = (a - b for a, b in zip(row.place.subscripts, other.subscripts, strict=True))
    if _stride(other) == row.stride and last.is_constant and last.constant % row.stride != 0:
        # They move by whole vectors, so that other elements of the row stay others.
        return all(each.coefficient(variable) == 0 for each in other.subscripts[:-1])
    return other.offsets is None and any(
        b.coefficient(variable) == 0 and difference.is_constant and difference.constant != 0
        for difference, b in zip(outer, other.subscripts[:-1], strict=True)
    )


def _of_row(row: _Row, target: Target) -> Iterator[_Window]:
    """Windows of a row, each over what one access loads or stores; loads are in one at most."""
    is_line = target.vector_bits // 8 >= target.cache_line
    taken: set[Operation] = set()
    for producer in sorted(row.accesses, key=lambda a: (-a.offset, not a.is_store, a.position)):
        is_costly = is_line or row.stride > 1
        if not (producer.is_store or is_costly) or producer.operation in taken:
            continue
        loads = tuple(
            access
            for access in row.accesses
            if not access.is_store
            and access.operation not in taken
            and access.offset < producer.offset
            and _is_held(row, producer, access)
        )
        if loads:
            taken |= {producer.operation, *(access.operation for access in loads)}
            yield _Window(row, producer, loads)


def _is_held(row: _Row, producer: _Access, access: _Access) -> bool:
    """Whether all elements of a load are those that the producer has loaded or stored."""
    width = row.place.width
    if _age(producer, access, width) > DEPTH:
        return False
    is_now = producer.offset - access.offset < width
    if is_now and producer.position > access.position and not _can_rise(row, producer, access):
        return False
    stores = [other for other in row.accesses if other.is_store and other is not producer]
    for element in range(access.offset, access.offset + width):
        made = (-((element - producer.offset) // width), -producer.position)
        for store in stores:
            age = -((element - store.offset) // width)
            is_before = age > 0 or (age == 0 and store.position < access.position)
            if is_before and (age, -store.position) < made:
                return False
    return True


def _can_rise(row: _Row, producer: _Access, access: _Access) -> bool:
    """Whether the producer can come before a load: no store to the row is in between."""
    return not producer.is_store and not any(
        other.is_store and access.position < other.position < producer.position
        for other in row.accesses
    )


def _rewrite(
    builder: IRBuilder,
    loop: affine.ForOp,
    windows: Sequence[_Window],
    lower: Index,
    numbering: Numbering,
) -> None:
    """Appends the loop with the vectors of windows carried from iteration to iteration."""
    block = loop.body.block
    (variable,) = numbering.index(block.args[0]).variables()
    initial: list[SSAValue] = []
    carried: list[list[SSAValue]] = []
    for window in windows:
        subscripts = (each.substitute({variable: lower}) for each in window.row.place.subscripts)
        first = replace(window.row.place, subscripts=tuple(subscripts))
        vectors = [window.producer.value]
        for age in range(1, window.depth + 1):
            initial.append(_before(builder, first, window, age))
            vectors.append(block.insert_arg(first.type, len(block.args)))
        _raise_producer(window)
        for access in window.loads:
            _shuffle(access, window, vectors)
        carried.append(vectors[1:-1])
    # What a window stores may have been a load of another one, which is a shuffle now.
    last = [
        value
        for window, older in zip(windows, carried, strict=True)
        for value in (window.producer.value, *older)
    ]
    builder.emit(carrying(loop, initial, last))
    loop.erase()


def _before(builder: IRBuilder, first: Place, window: _Window, age: int) -> SSAValue:
    """The vector that an iteration before the first one would have made.

    The elements that no load needs may be outside of the array, and are others.
    """
    start = window.producer.offset - age * window.width
    needed = max(start, min(access.offset for access in window.loads))
    *outer, last = first.subscripts
    vector = load(builder, replace(first, subscripts=(*outer, last + needed * window.row.stride)))
    missing = needed - start
    if missing == 0:
        return vector
    lanes = [max(0, lane - missing) for lane in range(window.width)]
    return builder.emit(_shuffle_op(vector, vector, lanes)).result


def _raise_producer(window: _Window) -> None:
    """Puts a load before those that are made of it."""
    producer = window.producer
    earliest = min(
        (a for a in window.loads if producer.offset - a.offset < window.width),
        key=lambda access: access.position,
        default=producer,
    )
    if earliest.position < producer.position:
        _put_before(producer.operation, earliest.operation)


def _put_before(operation: Operation, place: Operation) -> None:
    """Moves an operation of a block to a place before it, and what it is computed from."""
    block = place.parent
    assert block is not None
    for operand in operation.operands:
        source = operand.owner
        if isinstance(source, Operation) and source.parent is block:
            _put_before(source, place)
    if place.is_before_in_block(operation):
        operation.detach()
        block.insert_op_before(operation, place)


def _shuffle(access: _Access, window: _Window, vectors: Sequence[SSAValue]) -> None:
    """Replaces a load by the elements of vectors, of which each is older than the one before."""
    age = window.age(access)
    shift = access.offset - window.producer.offset + age * window.width
    value = vectors[age]
    if shift:
        lanes = range(shift, shift + window.width)
        shuffle = _shuffle_op(value, vectors[age - 1], lanes)
        block = access.operation.parent
        assert block is not None
        block.insert_op_before(shuffle, access.operation)
        value = shuffle.result
    access.operation.results[0].replace_all_uses_with(value)
    access.operation.detach()
    access.operation.erase()


def _shuffle_op(low: SSAValue, high: SSAValue, lanes: Sequence[int]) -> xdsl_vector.ShuffleOp:
    kind = low.type
    assert is_vector(kind)
    mask = DenseArrayBase.from_list(i64, list(lanes))
    return xdsl_vector.ShuffleOp(low, high, mask, result_type=kind)
