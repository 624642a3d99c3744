"""Software prefetching and non-temporal stores for streams larger than the caches.

Two hints, both seen in the subscripts of the finished loops:

* A loop that reads rows y, y + 1, y + 2 finds two of them in a nearby cache, and fetches the third
  from memory. The processor's prefetcher follows the first two, so the row that comes next is
  asked for by name, one iteration of the loop over rows ahead.
* A store to a line that is in no cache reads it first. Of an array that is only written, element
  after element, and is larger than the last cache, nothing is lost when stores go past the caches
  (the attribute `nontemporal`), and a third of the traffic of a copy is saved.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import affine as xdsl_affine
from xdsl.dialects import func
from xdsl.dialects import vector as xdsl_vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    UnitAttr,
)
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineMap

from ...dialects import affine
from ...dialects.memref import is_memref
from ...passes.estimate.program_statistics import bytes_of
from ...passes.machine.target import Target
from ..loops.alias_analysis import Numbering, touched_memrefs
from ..loops.operations import operations
from ..nest.index_expression import Index, Variable

NEARBY = 2
"""The level of the cache that rows stay in from one iteration of a loop over rows to the next."""

SHARE = 0.5
"""The part of it that they may take."""

_STORES = (affine.VectorStoreOp, xdsl_vector.MaskedStoreOp, xdsl_affine.StoreOp)


@dataclass(frozen=True)
class _Load:
    """A vector load with its subscripts in linear form."""

    operation: affine.VectorLoadOp
    subscripts: tuple[Index, ...]

    @property
    def constants(self) -> tuple[int, ...]:
        return tuple(subscript.constant for subscript in self.subscripts)


@dataclass(frozen=True)
class Enclosing:
    """A surrounding loop: its variable's number, and its step."""

    variable: int
    step: int


def prefetch_and_bypass(function: func.FuncOp, target: Target) -> None:
    """Adds prefetches, and marks stores that go past the caches, in place."""
    numbering = Numbering()
    nearby = target.caches.get(NEARBY, 0)
    beyond = {*large_arrays(function, nearby)}
    if not beyond:
        return
    for block in [op.body.block for op in operations(function) if isinstance(op, affine.ForOp)]:
        _prefetch(block, numbering, beyond, target)
    _bypass(function, numbering, {a for a in beyond if _bytes(a) > target.last_cache})


def large_arrays(function: func.FuncOp, size: float) -> Iterator[SSAValue]:
    """The arguments that are arrays of more than so many bytes."""
    return (value for value in function.body.block.args if _bytes(value) > size)


def _bytes(value: SSAValue) -> int:
    """The size of an array, 0 where it is not known or no array."""
    kind = value.type
    if not is_memref(kind) or DYNAMIC_INDEX in kind.get_shape():
        return 0
    return prod(kind.get_shape()) * bytes_of(kind.element_type)


def enclosing(block: Block, numbering: Numbering) -> Iterator[Enclosing]:
    """The loops around what is in a block, innermost first."""
    around: Block | None = block
    while around is not None and (operation := around.parent_op()) is not None:
        match operation:
            case xdsl_affine.ForOp():
                steps: Sequence[int] = [operation.step.value.data]
            case xdsl_affine.ParallelOp():
                steps = [step.value.data for step in operation.steps]
            case _:
                steps = []
        for value, step in reversed(list(zip(around.args, steps, strict=False))):
            (atom, _), *_ = numbering.index(value).terms
            assert isinstance(atom, Variable)
            yield Enclosing(atom.number, step)
        around = operation.parent


def _prefetch(block: Block, numbering: Numbering, arrays: set[SSAValue], target: Target) -> None:
    """Asks for the rows that the next iteration of a loop over rows is the first to read."""
    groups: defaultdict[object, list[_Load]] = defaultdict(list)
    for operation in block.ops:
        if isinstance(operation, affine.VectorLoadOp) and operation.memref in arrays:
            place = numbering.place(operation)
            assert place is not None
            linear = tuple(frozenset(subscript.terms) for subscript in place.subscripts)
            groups[place.memref, linear].append(_Load(operation, place.subscripts))
    if not groups:
        return
    loops = list(enclosing(block, numbering))
    for loads in groups.values():
        found = _row_loop(loads, loops)
        if found is None:
            continue
        dimension, distance = found
        memory = loads[0].operation.memref
        assert is_memref(memory.type)
        element = bytes_of(memory.type.element_type)
        rows = len({load.constants[:-1] for load in loads})
        if (2 * rows * memory.type.get_shape()[-1] * element) > SHARE * target.caches[NEARBY]:
            continue
        for load in _leading(loads, dimension, target.cache_line // element):
            insert_prefetch(load.operation, {dimension: distance})


def _row_loop(loads: Sequence[_Load], loops: Sequence[Enclosing]) -> tuple[int, int] | None:
    """The innermost loop that slides over rows: their dimension, and by how much it moves there.

    Every element must come by once only, so each loop further out has to move along a dimension of
    its own, forwards.
    """
    subscripts = loads[0].subscripts
    dimensions: dict[int, int] = {}
    for dimension, subscript in enumerate(subscripts):
        for atom, coefficient in subscript.terms:
            if not isinstance(atom, Variable) or atom.number in dimensions or coefficient < 0:
                return None
            dimensions[atom.number] = dimension
    last = len(subscripts) - 1
    for position, loop in enumerate(loops):
        dimension = dimensions.get(loop.variable, last)
        if dimension == last:
            continue
        distance = loop.step * (subscripts[dimension].coefficient(loop.variable) or 0)
        rows = {load.constants[:-1] for load in loads}
        slides = any(
            (*row[:dimension], row[dimension] + distance, *row[dimension + 1 :]) in rows
            for row in rows
        )
        if slides:
            outer = loops[position:]
            fresh = all(other.variable in dimensions for other in outer)
            return (dimension, distance) if fresh else None
    return None


def _leading(loads: Sequence[_Load], dimension: int, per_line: int) -> list[_Load]:
    """The loads of the rows that are new in each iteration, one for each cache line."""
    columns: dict[object, dict[int, _Load]] = {}
    newest: dict[object, int] = {}
    for load in loads:
        row = load.constants[:-1]
        column = (*row[:dimension], *row[dimension + 1 :])
        if column not in newest or row[dimension] > newest[column]:
            newest[column], columns[column] = row[dimension], {}
        if row[dimension] == newest[column]:
            line = load.constants[-1] // per_line
            first = columns[column].setdefault(line, load)
            if load.constants[-1] < first.constants[-1]:
                columns[column][line] = load
    result = list[_Load]()
    for lines in columns.values():
        covered = {line for line in lines if lines[line].constants[-1] % per_line == 0}
        result += [lines[line] for line in sorted(covered or lines)]
    return result


def insert_prefetch(
    operation: affine.VectorLoadOp, distances: Mapping[int, int], *, is_write: bool = False
) -> None:
    """Asks behind a load for what is so far away from it in some dimensions."""
    attribute = operation.map
    assert isinstance(attribute, AffineMapAttr)
    map = attribute.data
    results = [
        result + distances[dimension] if dimension in distances else result
        for dimension, result in enumerate(map.results)
    ]
    moved = AffineMapAttr(AffineMap(map.num_dims, map.num_symbols, tuple(results)))
    prefetch = affine.PrefetchOp(
        operation.memref,
        tuple(operation.indices),
        moved,
        is_write=is_write,
        locality=3,
        is_data_cache=True,
    )
    block = operation.parent
    assert block is not None
    block.insert_op_after(prefetch, operation)


def _bypass(function: func.FuncOp, numbering: Numbering, arrays: set[SSAValue]) -> None:
    """Marks the vector stores to those arrays that are only written, and there once."""
    stores: defaultdict[SSAValue, list[Operation]] = defaultdict(list)
    for operation in operations(function):
        for memory in touched_memrefs(operation):
            if memory in arrays:
                stores[memory].append(operation)
    for group in stores.values():
        if all(isinstance(op, _STORES) and _is_once(op, numbering) for op in group):
            for operation in group:
                if isinstance(operation, affine.VectorStoreOp):
                    operation.attributes["nontemporal"] = UnitAttr()


def _is_once(operation: Operation, numbering: Numbering) -> bool:
    """Whether every loop around a store moves it."""
    place = numbering.place(operation)
    block = operation.parent
    if place is None or block is None:
        return False
    moving = {variable for subscript in place.subscripts for variable in subscript.variables()}
    return all(loop.variable in moving for loop in enclosing(block, numbering))
