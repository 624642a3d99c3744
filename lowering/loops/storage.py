"""Allocation of local arrays at the innermost loop that encloses their reuse.

Arguments stay where they are. A local array is allocated in the body of the innermost loop outside
of which none of its cells is used twice, as large as the box of cells that one iteration of that
loop touches: so the expanded dimensions of per-iteration scalars disappear again where the schedule
allows it, and stay where it does not. Statements that hand each other nothing through an array, as
the parts of a loop that was split, have an array each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter

import islpy as isl
from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from ...passes.estimate.lane_layout import lane_dimension
from ...passes.estimate.program_statistics import StatementStatistics, bytes_of, memory_order
from ...passes.polyhedral.isl_context import TooComplexError, bounded
from ...passes.polyhedral.memrefs import memref_shape
from ...passes.polyhedral.schedule_tree import Leaf, Loop, Tree, path, sum_of_affs, walk
from ...passes.polyhedral.scop import Access, Array, Scop
from ...passes.polyhedral.shared_cells import sharing_statements
from ..nest.aff_to_index import aff_to_index
from ..nest.ast_to_nest import to_index
from ..nest.full_tiles import outer_schedule
from ..nest.index_expression import Index, linear_form, maximum
from ..nest.nest import Call, Nest
from ..nest.nest import walk as walk_nest
from .ir_builder import IRBuilder

# Larger local arrays go to the heap: a thread's stack is small.
STACK_BYTES = 16 * 1024

# Rows of partial results, in bytes, from which on a cache line that two threads share is rare.
_LONG_ROW = 4096
_CACHE_LINE = 64

# Elements so many bytes apart share few sets of the first-level cache (64 sets of lines).
_CONFLICT = 1024

# The array lives further out, and is larger, where isl needs more to find a loop that it can be in.
_HOME_OPERATIONS = 1_000_000
_HOME_SECONDS = 1.0

Offset = Callable[[Sequence[Index]], Index]


@dataclass(frozen=True)
class Placement:
    """Allocation of a local array: inside the loops `outer`, with the extents needed there.

    `offsets` are functions of the values of `outer`; `sizes` are their numbers of values. Both have
    one entry per subscript. `users` are the statements that access it: other ones may have a
    placement of their own, with which no cell is shared. The last `whole` subscripts
    are those of an array that is passed on: none is left out. Elements are neighbours along the
    subscript `innermost`, by default the last one.

    What is used in the `lockstep` innermost loops of `outer` alone, inside of a vector loop, is
    allocated around that: one array for all of their iterations, with room for the lanes.
    """

    array: Array
    users: frozenset[str]
    outer: tuple[Loop, ...]
    offsets: tuple[Offset, ...]
    sizes: tuple[Index, ...]
    whole: int = 0
    innermost: int | None = None
    lockstep: int = 0

    @property
    def home(self) -> Loop | None:
        """The loop in whose body the array is allocated; None: in the function's."""
        around = self.outer[: len(self.outer) - self.lockstep]
        return around[-1] if around else None

    @property
    def last(self) -> Loop | None:
        """The innermost loop of which each iteration has cells of its own."""
        return self.outer[-1] if self.outer else None

    @property
    def kept(self) -> tuple[int, ...]:
        """Subscripts that more than one value of occurs, and those of what is passed whole.

        In the order of the dimensions in memory.
        """
        rank = len(self.sizes)
        is_kept = [k >= rank - self.whole or size != Index(1) for k, size in enumerate(self.sizes)]
        return tuple(k for k in memory_order(rank, self.innermost) if is_kept[k])

    @property
    def spread(self) -> int:
        """How many rows apart parts are that are passed on: threads share no cache line then."""
        if not self.whole or self.whole == len(self.sizes):
            return 1
        sizes = self.sizes[len(self.sizes) - self.whole :]
        row = math.prod(size.constant for size in sizes) * bytes_of(self.array.element_type)
        is_small = all(size.is_constant for size in sizes) and 0 < row < _LONG_ROW
        return 1 + math.ceil(_CACHE_LINE / row) if is_small and row % _CACHE_LINE else 1

    @property
    def is_padded(self) -> bool:
        """Whether rows may be further apart than they are long.

        Packed arrays are read one row after the other.
        """
        array = self.array
        own = array.shape[array.scope_depth :]
        return array.scope_depth > 0 and None not in own and not self.whole


class Storage:
    """The memref of each array at the current point of code generation."""

    def __init__(self, placements: Sequence[Placement], arguments: Mapping[str, SSAValue]):
        self.all_placements = placements
        self.placements = placements_by_user(placements)
        self.arguments = arguments
        self.memrefs: dict[tuple[str, str], SSAValue] = {}
        self.loop_values: dict[str, Index] = {}
        self.loops: tuple[tuple[Loop, Index], ...] = ()
        self.offsets: dict[tuple[str, str], list[Index]] = {}

    def memref(self, array: Array, user: str) -> SSAValue:
        """The memref that holds the array here, for one of the statements that access it."""
        found = self.arguments.get(array.name)
        return self.memrefs[array.name, user] if found is None else found

    def shared_memref(self, array: Array) -> SSAValue:
        """The memref of a local array that is one for all statements."""
        return next(memref for (name, _), memref in self.memrefs.items() if name == array.name)

    def subscripts(self, array: Array, user: str, program: list[Index]) -> list[Index]:
        """Subscripts of the program -> subscripts of the memref."""
        placement = self.placements.get((array.name, user))
        if placement is None:
            return program
        # Those of what lies inside of a vector loop are known there: they are alike in all lanes.
        offsets = self.offsets.get((array.name, user)) or [Index()] * len(program)
        last = len(placement.sizes) - placement.whole - 1
        return [
            (program[k] - offsets[k]) * (placement.spread if k == last else 1)
            for k in placement.kept
        ]

    def is_allocated_in(self, loop: Loop) -> bool:
        """Whether an array is allocated in the body of this loop, or has its place from it."""
        return any(loop is p.home or loop is p.last for p in self.all_placements)

    @contextmanager
    def inside(self, values: Iterable[tuple[Loop, Index]]) -> Generator[None]:
        """Says what the values of loops are in the code that is made inside."""
        outer, loops = self.loop_values, self.loops
        entered = tuple(values)
        self.loop_values = {**outer, **{loop.name: value for loop, value in entered}}
        self.loops = (*loops, *entered)
        yield
        self.loop_values, self.loops = outer, loops

    @contextmanager
    def allocated(self, builder: IRBuilder, loop: Loop | None, body: Nest) -> Generator[None]:
        """Allocates, around `body`, the arrays that live in `loop` (None: in the function).

        Only those that are used in `body`: other iterations of the loop may be apart from it, and
        outside of loops whose values the place of an array follows from.
        """
        inside = [p for p in self.all_placements if p.home is loop or p.last is loop]
        if inside and loop is not None:
            called = {part.statement for part in walk_nest(body) if isinstance(part, Call)}
            inside = [p for p in inside if not called.isdisjoint(p.users)]
        on_heap: list[SSAValue] = []
        placed: list[tuple[str, str]] = []
        for placement in inside:
            name = placement.array.name
            if placement.last is loop:
                outer = [self.loop_values[loop.name] for loop in placement.outer]
                offsets = [offset(outer) for offset in placement.offsets]
                self.offsets |= {(name, user): offsets for user in placement.users}
                placed += [(name, user) for user in placement.users]
            if placement.home is not loop:
                continue
            last = len(placement.sizes) - placement.whole - 1
            sizes = [
                placement.sizes[k] * (placement.spread if k == last else 1) for k in placement.kept
            ]
            shape = [size.constant if size.is_constant else DYNAMIC_INDEX for size in sizes]
            dynamic = [builder.value(size) for size in sizes if not size.is_constant]
            element = placement.array.element_type
            if not dynamic and placement.is_padded:
                shape = _padded(shape, element)
            if not dynamic and 8 * math.prod(shape) <= STACK_BYTES:
                allocation = builder.emit(memref.AllocaOp.get(element, 64, shape)).memref
            else:
                allocation = builder.emit(memref.AllocOp.get(element, 64, shape, dynamic)).memref
                on_heap.append(allocation)
            allocation.name_hint = name
            self.memrefs |= {(name, user): allocation for user in placement.users}
        yield
        for key in placed:
            del self.offsets[key]
        for value_on_heap in on_heap:
            builder.emit(memref.DeallocOp.get(value_on_heap))


def _padded(shape: Sequence[int], element: Attribute) -> list[int]:
    """A shape that is a little longer where steps along other dimensions would conflict in caches.

    [4, 32, 1024] of i32    ->    [4, 32, 1040]
    """
    result = list(shape)
    stride = bytes_of(element)
    for position in reversed(range(1, len(result))):
        if stride * result[position] % _CONFLICT == 0:
            result[position] += math.ceil(_CACHE_LINE / stride)
        stride *= result[position]
    return result


def placements_by_user(placements: Iterable[Placement]) -> dict[tuple[str, str], Placement]:
    """The placements by the names of the array and of each statement that accesses it."""
    return {(each.array.name, user): each for each in placements for user in each.users}


def possible_homes(scop: Scop, tree: Tree) -> set[str]:
    """Names of the loops in whose bodies local arrays may be allocated: those around all uses."""
    paths = {node.statement: path(tree, node) for node in walk(tree) if isinstance(node, Leaf)}
    found: set[str] = set()
    for array in scop.arrays:
        if not array.is_local or array.scope_depth == 0:
            continue
        for uses in _uses(scop, array, paths):
            for nodes in zip(*(paths[name] for name, _ in uses), strict=False):
                if any(node is not nodes[0] for node in nodes):
                    break
                found |= {nodes[0].name} if isinstance(nodes[0], Loop) else set()
    return found


def place_local_arrays(
    scop: Scop,
    tree: Tree,
    no_homes: Callable[[Container[str]], Sequence[Loop]],
    vectors: Sequence[Loop],
    context: isl.Set,
    parameters: Mapping[str, Index],
    sizes: Mapping[str, int],
) -> list[Placement]:
    """Homes of all local arrays that are used, for sizes in `context`.

    `no_homes` gives the loops that have no code which runs all that some statements (by name) do in
    one iteration of theirs, and nothing that they do in another one. Those of `vectors` run several
    iterations at a time: what is used inside of one of their iterations has room for all of them.
    """
    leaves = {node.statement: path(tree, node) for node in walk(tree) if isinstance(node, Leaf)}
    statistics = {each.name: StatementStatistics(each, sizes) for each in scop.statements}
    result: list[Placement] = []
    for array in scop.arrays:
        if not array.is_local:
            continue
        for uses in _uses(scop, array, leaves):
            paths = [leaves[name] for name, _ in uses]
            outer, lockstep = _home(array, uses, paths, no_homes, vectors)
            found = _placement(array, uses, outer, context, parameters)
            users = [
                (statistics[name], tuple(node for node in around if isinstance(node, Loop)))
                for (name, _), around in zip(uses, paths, strict=True)
            ]
            innermost = None if found.whole else lane_dimension(array, users)
            lockstep = min(lockstep, len(found.outer))
            result.append(replace(found, innermost=innermost, lockstep=lockstep))
    return result


_Use = tuple[str, Access]
"""A statement, by name, and an access of it."""


def _uses(scop: Scop, array: Array, leaves: Mapping[str, object]) -> Iterator[list[_Use]]:
    """The accesses to an array, of the statements of each group that share cells.

    isl's scheduler leaves out statements that never run.
    """
    for group in sharing_statements(scop, array):
        uses = [
            (statement.name, access)
            for statement in scop.statements
            for access in statement.accesses
            if access.array == array and statement.name in group & leaves.keys()
        ]
        if uses:
            yield uses


def _home(
    array: Array,
    uses: list[_Use],
    paths: list[tuple[Tree, ...]],
    no_homes: Callable[[Container[str]], Sequence[Loop]],
    vectors: Sequence[Loop],
) -> tuple[tuple[Loop, ...], int]:
    """The loops around all uses, down to the innermost in which each cell has one iteration.

    Without vector loops; and how many of them are inside of those.
    """
    if array.scope_depth == 0:
        return (), 0
    cells = _union([access.relation for _, access in uses])
    same_cell = cells.apply_range(cells.reverse())
    names = dict.fromkeys(name for name, _ in uses)
    excluded = no_homes(names)
    home: list[Loop] = []
    around: int | None = None
    for nodes in zip(*paths, strict=False):
        loop = nodes[0]
        if any(node is not loop for node in nodes[1:]):
            break
        if not isinstance(loop, Loop):
            continue
        if any(loop is other for other in excluded):
            break
        value = sum_of_affs(tuple(loop.schedule[name] for name in names))
        if not _is_kept(same_cell, value):
            break
        if loop.run_time_size is not None:
            continue  # its value is that of a whole tile
        if any(loop is other for other in vectors):
            around = len(home) if around is None else around
        else:
            home.append(loop)
    return tuple(home), 0 if around is None else len(home) - around


def _is_kept(same_cell: isl.UnionMap, value: isl.MultiUnionPwAff) -> bool:
    """Whether uses of one cell are proved to have one value of a loop."""
    try:
        with bounded(_HOME_OPERATIONS, _HOME_SECONDS):
            return same_cell.is_subset(same_cell.eq_at_multi_union_pw_aff(value))
    except TooComplexError:
        return False


def _placement(
    array: Array,
    uses: list[_Use],
    outer: tuple[Loop, ...],
    context: isl.Set,
    parameters: Mapping[str, Index],
) -> Placement:
    cells: isl.Map | None = None
    for name, access in uses:
        relation = access.relation.intersect_params(context)
        used = outer_schedule(outer, name, relation.domain()).reverse().apply_range(relation)
        cells = used if cells is None else cells.union(used)
    assert cells is not None
    users = frozenset(name for name, _ in uses)
    is_opaque = any(access.is_opaque for _, access in uses)
    whole = len(memref_shape(array.value)) if is_opaque else 0
    if is_opaque and whole == len(array.shape):
        sizes = tuple(_size(extent, parameters) for extent in array.shape)
        nowhere = (partial(_always, Index()),) * len(sizes)
        return Placement(array, users, (), nowhere, sizes, whole)
    rank = cells.dim(isl.dim_type.out)
    if cells.is_empty():
        nowhere = (partial(_always, Index()),) * rank
        return Placement(array, users, outer, nowhere, (Index(1),) * rank, whole)
    extents = [_extent(cells, k, context, parameters) for k in range(rank)]
    offsets, numbers = tuple(low for low, _ in extents), tuple(n for _, n in extents)
    return Placement(array, users, outer, offsets, numbers, whole)


def _size(extent: object, parameters: Mapping[str, Index]) -> Index:
    assert isinstance(extent, int | str | AffineExpr), "the shape of an array that lives in no loop"
    if isinstance(extent, int):
        return Index(extent)
    if isinstance(extent, str):
        return parameters[extent]
    return linear_form(extent, 0).substitute(dict(enumerate(parameters.values())))


def _extent(
    cells: isl.Map, position: int, context: isl.Set, parameters: Mapping[str, Index]
) -> tuple[Offset, Index]:
    """The least subscript as a function of the outer loops' values, and how many there are from it.

    In the first tile of a loop, `max(1, 16 * it)` may stand for `16 * it`: of affine functions that
    are nowhere above the least subscript, that from which there are fewest. Where there is none, or
    their number has no constant bound, these are those of all iterations.
    """
    lowest, highest = cells.dim_min(position), cells.dim_max(position)
    pieces: list[isl.Aff] = []
    lowest.foreach_piece(lambda _, aff: pieces.append(aff))
    found: list[tuple[int, isl.Aff]] = []
    for aff in pieces:
        start = isl.PwAff.from_aff(aff)
        # PwAff.max_val refuses functions with quotients.
        number = isl.Map.from_pw_aff(highest.sub(start)).range().dim_max_val(0)
        if number.is_int() and (len(pieces) == 1 or lowest.lt_set(start).is_empty()):
            found.append((number.to_python(), aff))
    if found:
        number, aff = min(found, key=itemgetter(0))
        return partial(aff_to_index, aff, parameters=parameters), Index(number + 1)
    build = isl.AstBuild.from_context(context)
    everything = cells.range()
    first, last = (
        to_index(build.expr_from_pw_aff(value), parameters)
        for value in (everything.dim_min(position), everything.dim_max(position))
    )
    return partial(_always, first), maximum([last - first + 1, Index()])


def _always(index: Index, _outer: Sequence[Index]) -> Index:
    return index


def _union(maps: list[isl.Map]) -> isl.UnionMap:
    result = isl.UnionMap.from_map(maps[0])
    for relation in maps[1:]:
        result = result.union(isl.UnionMap.from_map(relation))
    return result
