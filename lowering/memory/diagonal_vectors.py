"""Sweeps in place with one row per lane: a vector along the diagonal, made of others in registers.

Rows that follow each other by some columns are independent, so they can be the lanes of a vector.
What a row needs of the one above was computed by the lane before, an iteration or two ago; what it
needs of the one below will be the next lane's. So only the rows at the border are loaded as
scalars, and of each block of iterations, as long as a vector, all rows are loaded and stored
together, which code generation does by rows and transpositions in registers:

    for j:                                         for j step 4 iter_args(%v, %o):
      %a = gather A[i - 1 + l, j + 1 - 2 l]          %o1 ... %o4 = gather A[i + l, j + 1 - 2 l] ...
      %b = gather A[i + l, j - 1 - 2 l]              %h = load A[i - 1, j + 1]
      %c = gather A[i + l, j - 2 l]           ->     %a = shuffle %h, %v
      %d = f(%a, %b, %c)                             %v1 = f(%a, %v, %o)
      scatter A[i + l, j - 2 l], %d                  ...
                                                     scatter A[i + l, j - 2 l], %v1 ...
                                                     yield %v4, %o4

Vectors along the diagonal of space, as others have them along that of time (Yuan et al., "Temporal
vectorization for stencils", SC 2021).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from xdsl.dialects import func, memref
from xdsl.dialects import vector as xdsl_vector
from xdsl.dialects.builtin import DenseArrayBase, IndexType, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import is_side_effect_free

from ...dialects import affine
from ...dialects.vector import is_vector
from ...passes.estimate.program_statistics import bytes_of
from ...passes.estimate.strided_accesses import BLOCK_ROWS, BLOCKS, LEAST_BLOCK_BITS
from ...passes.machine.target import Target
from ..loops.alias_analysis import Numbering, Place, is_inside
from ..loops.ir_builder import IRBuilder
from ..loops.loop_bounds import tightest
from ..loops.operations import operations
from ..loops.place_access import load, store, stored_value
from ..nest.index_expression import Comparison, Connective, Index
from .carried_values import replace_loop
from .diagonal_accesses import Diagonal, diagonal


def carry_diagonal_vectors(function: func.FuncOp, target: Target) -> None:
    """Replaces gathers of what lanes have computed or loaded in all innermost loops, in place."""
    inside = operations(function)
    if any(isinstance(op, memref.CastOp) for op in inside):
        return  # One array under two names.
    numbering = Numbering()
    for loop in inside:
        if isinstance(loop, affine.ForOp) and loop.step.value.data == 1:
            _carry_in(loop, function.body.block, numbering, target)


def _carry_in(loop: affine.ForOp, entry: Block, numbering: Numbering, target: Target) -> None:
    block = loop.body.block
    accesses = numbering.accesses(block)
    stored = [group for group in accesses.values() if any(access.is_store for access in group)]
    placed = {access.operation for group in accesses.values() for access in group}
    if (
        not stored
        or any(result.uses for result in loop.results)
        or not all(
            op in placed or (is_side_effect_free(op) and not op.regions)
            for op in block.ops
            if op is not block.last_op
        )
    ):
        return
    (variable,) = numbering.index(block.args[0]).variables()
    lowers = numbering.results(loop.lowerBoundMap, loop.lowerBoundOperands)
    uppers = numbering.results(loop.upperBoundMap, loop.upperBoundOperands)
    steps = _block(stored[0][0].place, target)
    if steps is None:
        return
    diagonals: list[_CarriedDiagonal] = []
    for group in stored:
        found = diagonal(group, variable, block, steps)
        if found is None or _block(found.place, target) != steps:
            return
        used = [n for each in found.place.subscripts for n in each.variables() if n != variable]
        before = _CarriedDiagonal(found, None).place(variable, lowers[0] - 1, 0)
        is_single = len(lowers) == 1
        argument = _carrying_argument(loop, found, before, numbering) if is_single else None
        carried = _CarriedDiagonal(found, argument)
        if not carried.is_known_before or any(is_inside(numbering.values[n], block) for n in used):
            return
        diagonals.append(carried)
    if not any(each.is_read for each in diagonals):
        return
    rewriting = _Rewriting(loop, variable, diagonals, steps, lowers, uppers)
    replace_loop(loop, entry, numbering, Connective("all", ()), rewriting.place)


def _block(place: Place, target: Target) -> int | None:
    """The rows of a block that is transposed, of which a vector has one, two or four."""
    if not is_vector(place.type):
        return None
    bits = max(LEAST_BLOCK_BITS, target.vector_bits)
    rows = min(place.width, bits // (8 * bytes_of(place.type.element_type)))
    return rows if rows in BLOCK_ROWS and place.width // rows in BLOCKS else None


def _carrying_argument(
    loop: affine.ForOp, found: Diagonal, before: Place, numbering: Numbering
) -> int | None:
    """The number of the argument by which the loop carries what it has stored last, if any.

    Before the first iteration, that is the content of a place.
    """
    end = loop.body.block.last_op
    assert end is not None
    value = stored_value(found.store.operation)
    for number, (initial, last) in enumerate(zip(loop.inits, end.operands, strict=True)):
        if last is value and _is_loaded(initial, before, loop, numbering):
            return number
    return None


def _is_loaded(value: SSAValue, place: Place, loop: affine.ForOp, numbering: Numbering) -> bool:
    """Whether a value is what a place holds when a loop begins."""
    operation = value.owner if isinstance(value.owner, Operation) else None
    if operation is None or operation.parent is not loop.parent or not operation.results:
        return False
    loaded = numbering.place(operation)
    while True:
        # Nothing is stored in between.
        operation = operation.next_op
        if operation is loop:
            break
        if operation is None or operation.regions or not operation.results:
            return False
    return loaded is not None and loaded.is_same(place)


@dataclass(frozen=True)
class _Kind:
    """Vectors of a diagonal that follow each other: lanes `rows` below, new or old values."""

    rows: int
    is_new: bool


@dataclass(frozen=True)
class _CarriedDiagonal:
    """A diagonal, and the number of an argument that already carries its last vector."""

    accesses: Diagonal
    argument: int | None

    @property
    def is_read(self) -> bool:
        """Whether the loop reads what it updates."""
        return bool(self.accesses.loads) or self.argument is not None

    @property
    def shifted(self) -> dict[_Kind, range]:
        """The lags of vectors that are others with their lanes moved; the last is made anew."""
        result: dict[_Kind, range] = {}
        for rows in (-1, 1):
            for is_new in (False, True):
                lags = self.accesses.lags(rows, is_new=is_new)
                if lags:
                    result[_Kind(rows, is_new)] = range(min(lags), max(lags) + 1)
        return result

    @property
    def old(self) -> range:
        """The lags of vectors of old values; the last is loaded."""
        lags = self.accesses.lags(0, is_new=False) + self._moved(is_new=False)
        return range(min(lags), max(lags) + 1) if lags else range(0)

    @property
    def new(self) -> range:
        """The lags of vectors of new values; all were computed in earlier iterations."""
        lags = self.accesses.lags(0, is_new=True) + self._moved(is_new=True)
        return range(min(lags, default=0), 0)

    @property
    def is_known_before(self) -> bool:
        """Whether all lanes of earlier vectors are elements, at the start of the loop as well."""
        loaded = self.accesses.lags(0, is_new=True) + ([] if self.argument is None else [-1])
        return min(loaded, default=0) <= self.new.start

    @property
    def carried(self) -> Iterator[tuple[_Kind, int]]:
        """The kinds and lags of vectors that are carried from one block of iterations to the next.

        Without the one that the loop carries already.
        """
        for lag in self.old[:-1]:
            yield _Kind(0, is_new=False), lag
        for lag in self.new:
            if lag != -1 or self.argument is None:
                yield _Kind(0, is_new=True), lag
        for kind, lags in self.shifted.items():
            for lag in lags[:-1]:
                yield kind, lag

    def _moved(self, *, is_new: bool) -> list[int]:
        return [lags[-1] for kind, lags in self.shifted.items() if kind.is_new == is_new]

    def place(self, variable: int, iteration: Index, rows: int) -> Place:
        """What the store of an iteration writes, with all lanes so many rows below."""
        place = self.accesses.place
        pairs = zip(place.subscripts, self.accesses.down, strict=True)
        subscripts = tuple(x.substitute({variable: iteration}) + rows * step for x, step in pairs)
        return replace(place, subscripts=subscripts)

    def border(self, variable: int, iteration: Index, rows: int) -> Place:
        """The only element that lanes moved by one row do not have in common with the store's."""
        row = -1 if rows < 0 else self.accesses.width
        place = self.place(variable, iteration, row)
        assert is_vector(place.type)
        return replace(place, type=place.type.element_type, offsets=None)


_Vectors = dict[tuple[_Kind, int], SSAValue]


@dataclass(frozen=True)
class _Rewriting:
    """Makes `steps` iterations of a loop one, with vectors carried from one block to the next."""

    loop: affine.ForOp
    variable: int
    diagonals: Sequence[_CarriedDiagonal]
    steps: int
    lowers: tuple[Index, ...]
    uppers: Sequence[Index]

    def place(self, builder: IRBuilder) -> None:
        """Appends the blocks, and a loop over the iterations that are left."""
        first = tightest(builder, "max", self.lowers)
        # What is loaded before its time is the store's place of an iteration that will come.
        ahead = max(each.old[-1] if each.old else 0 for each in self.diagonals)
        lengths = [upper - first - ahead for upper in self.uppers]
        is_long = tuple(Comparison(">=", length - self.steps) for length in lengths)
        ends = [first + (length // self.steps) * self.steps for length in lengths]
        builder.branch(
            Connective("all", is_long),
            partial(self._blocks_and_rest, builder, first, ends),
            partial(self._iterations, builder, first, list(self.loop.inits)),
        )
        self.loop.erase()

    def _iterations(self, builder: IRBuilder, lower: Index, inits: Sequence[SSAValue]) -> None:
        """Appends the loop as it is, from some iteration on."""
        attribute, operands = builder.map((lower,))
        copy = self.loop.clone()
        rest = affine.ForOp.from_region(
            operands,
            self.loop.upperBoundOperands,
            inits,
            [value.type for value in inits],
            attribute,
            self.loop.upperBoundMap,
            copy.detach_region(copy.body),
            self.loop.step,
        )
        copy.erase()
        rest.attributes |= self.loop.attributes
        builder.emit(rest)

    def _blocks_and_rest(self, builder: IRBuilder, first: Index, ends: Sequence[Index]) -> None:
        inits = list(self.loop.inits)
        for each in self.diagonals:
            for kind, lag in each.carried:
                place = each.place(self.variable, first + lag, kind.rows)
                inits.append(load(builder, place))
        lower, lower_operands = builder.map((first,))
        upper, upper_operands = builder.map(ends)
        kinds = [value.type for value in inits]
        block = Block(arg_types=[IndexType(), *kinds])
        last: list[SSAValue] = []
        builder.filled(
            block,
            partial(self._block, builder, block, last),
            lambda: affine.YieldOp.get(*last),
        )
        blocks = builder.emit(
            affine.ForOp.from_region(
                lower_operands,
                upper_operands,
                inits,
                kinds,
                lower,
                upper,
                Region(block),
                self.steps,
            )
        )
        end = builder.named(builder.extremum("min", ends))
        self._iterations(builder, end, blocks.results[: len(self.loop.inits)])

    def _block(self, builder: IRBuilder, block: Block, last: list[SSAValue]) -> None:
        """Fills a block of iterations; `last` is what the next one gets."""
        first = builder.named(block.args[0])
        count = len(self.loop.inits)
        arguments = list(block.args[1 : count + 1])
        rest = iter(block.args[count + 1 :])
        vectors: list[_Vectors] = []
        for each in self.diagonals:
            own: _Vectors = {key: next(rest) for key in each.carried}
            if each.argument is not None:
                own[_Kind(0, is_new=True), -1] = arguments[each.argument]
            for step in range(self.steps) if each.old else ():
                iteration = step + each.old[-1]
                place = each.place(self.variable, first + iteration, 0)
                own[_Kind(0, is_new=False), iteration] = load(builder, place)
            vectors.append(own)
        needed = _needed(self.loop.body.block, self._replaced())
        for step in range(self.steps):
            for each, own in zip(self.diagonals, vectors, strict=True):
                self._shift(builder, each, own, first, step)
            arguments = self._iteration(builder, needed, vectors, arguments, first, step)
        for each, own in zip(self.diagonals, vectors, strict=True):
            for step in range(self.steps):
                place = each.place(self.variable, first + step, 0)
                store(builder, place, own[_Kind(0, is_new=True), step])
        last += arguments
        for each, own in zip(self.diagonals, vectors, strict=True):
            last += [own[kind, lag + self.steps] for kind, lag in each.carried]

    def _shift(
        self, builder: IRBuilder, each: _CarriedDiagonal, own: _Vectors, first: Index, step: int
    ) -> None:
        """The vectors that an iteration makes of others, with the border's element inserted."""
        for kind, lags in each.shifted.items():
            iteration = step + lags[-1]
            source = own[_Kind(0, kind.is_new), iteration]
            border = load(builder, each.border(self.variable, first + iteration, kind.rows))
            spread = builder.emit(
                xdsl_vector.BroadcastOp.create(operands=[border], result_types=[source.type])
            ).results[0]
            width = each.accesses.width
            low, high = (spread, source) if kind.rows < 0 else (source, spread)
            start = width - 1 if kind.rows < 0 else 1
            mask = DenseArrayBase.from_list(i64, list(range(start, start + width)))
            assert is_vector(source.type)
            own[kind, iteration] = builder.emit(
                xdsl_vector.ShuffleOp(low, high, mask, result_type=source.type)
            ).result

    def _iteration(
        self,
        builder: IRBuilder,
        needed: Sequence[Operation],
        vectors: Sequence[_Vectors],
        arguments: Sequence[SSAValue],
        first: Index,
        step: int,
    ) -> list[SSAValue]:
        """Appends what one iteration computes; the arguments of the next one."""
        body = self.loop.body.block
        values: dict[SSAValue, SSAValue] = {body.args[0]: builder.value(first + step)}
        values |= dict(zip(body.args[1:], arguments, strict=True))
        for each, own in zip(self.diagonals, vectors, strict=True):
            for access in each.accesses.loads:
                kind = _Kind(access.rows, access.is_new)
                values[access.operation.results[0]] = own[kind, step + access.lag]
        for operation in needed:
            builder.emit(operation.clone(value_mapper=values))
        for each, own in zip(self.diagonals, vectors, strict=True):
            value = stored_value(each.accesses.store.operation)
            own[_Kind(0, is_new=True), step] = values.get(value, value)
        end = body.last_op
        assert end is not None
        return [values.get(operand, operand) for operand in end.operands]

    def _replaced(self) -> set[Operation]:
        """The loads and stores of diagonals."""
        accesses = [each.accesses for each in self.diagonals]
        loads = {load.operation for each in accesses for load in each.loads}
        return loads | {each.store.operation for each in accesses}


def _needed(block: Block, replaced: set[Operation]) -> list[Operation]:
    """The operations that lead to what is stored or handed on, without the replaced ones."""
    wanted: set[SSAValue] = set()
    result: list[Operation] = []
    for operation in reversed(list(block.ops)):
        if operation in replaced:
            if not operation.results:
                wanted.add(stored_value(operation))
        elif operation is block.last_op:
            wanted.update(operation.operands)
        elif not wanted.isdisjoint(operation.results):
            wanted.update(operation.operands)
            result.append(operation)
    return result[::-1]
