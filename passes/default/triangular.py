"""Strategy: triangular contractions: symmetric and triangular matrix products.

As for any contraction, a block of the result stays in registers while a sum runs over it. Blocks
are only tiled once: on the diagonal they are partial, and small blocks lose less there. Operands
of which each term of the sum is in another row, or each lane of a vector, are copied into panels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from ..estimate.footprints import lines
from ..estimate.program_statistics import (
    ProgramStatistics,
    StatementStatistics,
    bytes_of,
    subscript_steps,
)
from ..estimate.register_tile import ADDRESSING, RegisterTile, waits_for_lines
from ..estimate.scheduling_context import SchedulingContext
from ..estimate.set_conflicts import rows_without_conflicts
from ..polyhedral.scaled_loads import scaled_load
from ..polyhedral.schedule_tree import Loop, Tree, chain, loops_around, statements
from ..polyhedral.scop import Access, Array
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.pack import read_number
from ..transformations.parallel import Parallel
from ..transformations.unroll import Unroll
from ..transformations.vectorize import Vectorize
from .contraction import is_contiguous, selects
from .steps import Steps
from .tensor_contraction import PANEL_OF_L1

PROFITABLE = 500_000
"""Statement instances below which tiles are not worth their edges."""

TALLEST = 8
"""Rows of a block in registers at most: on the diagonal, blocks are partial."""

WIDEST = 3
"""Vectors side by side at most."""

FAR = 0.5
"""The part of the last cache from which on an operand is read faster where its terms lie together.
Copies that it does not need cost up to a fifth."""


@dataclass(frozen=True)
class _Copy:
    """An operand to pack, the subscript that is cut into panels, and their width.

    `scaled` says that the copy has products with a scalar argument, `reads` (empty: all) which
    accesses it is for.
    """

    array: Array
    cut: int
    width: int
    scaled: bool
    reads: tuple[Access, ...]


@dataclass(frozen=True)
class TriangularContraction:
    """A reduction in three loops, by name.

    Neighbouring iterations of `vector` are neighbouring elements of the result, `rows` selects its
    rows and `terms` is the loop of the sum. `streamed` are the operands that `vector` selects,
    `broadcast` all others.
    """

    statement: str
    vector: str
    rows: str
    terms: str
    streamed: tuple[Access, ...]
    broadcast: tuple[Access, ...]


def triangular(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Schedule | None:
    """Register tiles for an accumulation over a triangle, operands transposed where needed.

    for i: for j <= i: for k: C[i, j] += A[i, k] * A[j, k]
    ->  for kt: pack A; parallel jt: for it: for k: 8 x 24 block of C in registers
    """
    statistics = context.statistics(schedule.scop)
    names = statements(nest)
    if len(names) != 1 or not isinstance(nest, Loop):
        return None
    found = recognise(schedule, names[0], chain(nest), statistics)
    if found is None or statistics.statements[names[0]].instances < PROFITABLE:
        return None
    orders = (found.vector, found.rows), (found.rows, found.vector)
    for packs, order in product((True, False), orders):
        try:
            return _Plan(schedule, found, statistics, context).apply(order, packs=packs)
        except TransformationError:
            continue
    return None


def recognise(
    schedule: Schedule, name: str, around: Sequence[Loop], statistics: ProgramStatistics
) -> TriangularContraction | None:
    """The contraction that a statement is in the loops around it, if its domain is no box."""
    accumulation = schedule.dependences.accumulations.get(name)
    statement = statistics.statements[name]
    if (
        accumulation is None
        or len(around) != 3
        or not _is_permutation(statement, around)
        or statement.points.is_box()
    ):
        return None
    result = accumulation.store
    reads = [access for access in statement.statement.reads if access is not accumulation.load]
    free = [loop for loop in around if selects(statement, loop, result)]
    terms = [loop for loop in around if loop not in free]
    if len(free) != 2:
        return None
    for vector, rows in (free, free[::-1]):
        streamed = tuple(access for access in reads if selects(statement, vector, access))
        if is_contiguous(statement, vector, result) and streamed:
            broadcast = tuple(access for access in reads if access not in streamed)
            return TriangularContraction(
                name, vector.name, rows.name, terms[0].name, streamed, broadcast
            )
    return None


def block(registers: int, streamed: int) -> RegisterTile:
    """The block of so many registers that loads fewest values per product, of the largest ones.

    Each step loads a row of vectors of every streamed operand, and broadcasts one value per row.
    Of several products, all but the last wait for it in a register.
    """
    return min(
        (
            RegisterTile(rows, vectors)
            for rows, vectors in product(range(1, TALLEST + 1), range(1, WIDEST + 1))
            if (rows + streamed) * vectors + streamed - 1 + ADDRESSING <= registers
        ),
        key=lambda tile: (1 / tile.rows + 1 / tile.vectors, -tile.rows * tile.vectors),
    )


def _is_permutation(statement: StatementStatistics, around: Sequence[Loop]) -> bool:
    """Whether the loops are those around the statement as written, in some order."""
    slopes = [statement.slopes(loop) for loop in around]
    return all(sorted(row) == [0, 0, 1] for row in (*slopes, *zip(*slopes, strict=True)))


class _Plan(Steps):
    """The transformations that lead to register tiles."""

    def __init__(
        self,
        schedule: Schedule,
        found: TriangularContraction,
        statistics: ProgramStatistics,
        context: SchedulingContext,
    ) -> None:
        super().__init__(schedule, found.statement)
        self.found = found
        self.statistics = statistics
        self.threads = context.threads
        self.lanes = schedule.target.lanes(found.streamed[0].array.element_type)
        self.tile = block(schedule.target.vector_registers, len(found.streamed))
        self.width = self.tile.vectors * self.lanes
        self.result = schedule.dependences.accumulations[found.statement].store.array
        self.loops = {loop.name: loop for loop in loops_around(schedule.tree, found.statement)}

    def apply(self, order: tuple[str, str], *, packs: bool) -> Schedule:
        """The schedule with loops outside of the block in this order.

        Without `packs`, only what vectors cannot be loaded from is copied.
        """
        found = self.found
        self.interchange((*order, found.terms))
        copies = self._copies(needed_only=not packs)
        if copies:
            self._pack(order, copies)
        sizes = {found.rows: self.tile.rows, found.vector: self.width}
        tiles = self.make_tiles(order, tuple(sizes[loop] for loop in order))
        self.interchange((found.terms, found.rows, found.vector))
        self.step(Unroll((self.name(found.rows), self.name(found.vector))))
        self.step(Vectorize((self.name(found.vector),), self.lanes))
        if self.threads > 1 and not self._parallel(tiles) and not copies:
            raise TransformationError("no loop over tiles can run in parallel")
        return self.schedule

    def _copies(self, *, needed_only: bool) -> list[_Copy]:
        """Operands that are worth a copy, or cannot do without.

        All reads of an array use its only copy, unless that has products which not all want.
        """
        found = self.found
        result: dict[tuple[str, int, bool], _Copy] = {}
        waits = self._waits_for_lines()
        for access in (*found.streamed, *found.broadcast):
            is_streamed = access in found.streamed
            along = found.vector if is_streamed else found.rows
            cut = self._subscript(access, along)
            needed = is_streamed and self._stride(access, along) != 1
            scaled = not (is_streamed or needed_only) and self._is_scaled(access)
            helps = self._is_scattered(access) and (
                self._has_conflicts(access)
                or ((waits or self._is_far(access)) and access.array != self.result)
            )
            profitable = not needed_only and (scaled or helps)
            if cut is None or not (needed or profitable):
                continue
            key = access.array.name, cut, scaled
            before = result.get(key, _Copy(access.array, cut, 0, scaled, ()))
            width = max(before.width, self.width if is_streamed else self.tile.rows)
            result[key] = replace(before, width=width, reads=(*before.reads, access))
        arrays = [copy.array for copy in result.values()]
        reads = [access.array for access in (*found.streamed, *found.broadcast)]
        return [
            replace(copy, reads=())
            if copy.array != self.result
            and arrays.count(copy.array) == 1
            and not (copy.scaled and reads.count(copy.array) > len(copy.reads))
            else copy
            for copy in result.values()
        ]

    def _is_scaled(self, access: Access) -> bool:
        """Whether only products of what is read with a scalar argument are used."""
        scop = self.schedule.scop
        return scaled_load(scop, scop.statement(self.found.statement), access) is not None

    def _is_scattered(self, access: Access) -> bool:
        """Whether each term of the sum is in other lines than the one before."""
        return abs(self._stride(access, self.found.terms)) > self.width

    def _has_conflicts(self, access: Access) -> bool:
        """Whether terms of a sum evict each other from the second-level cache."""
        pitch = abs(self._stride(access, self.found.terms))
        pitch *= bytes_of(access.array.element_type)
        statement = self.statistics.statements[self.found.statement]
        (terms,) = statement.trips((self.loops[self.found.terms],))
        return terms > rows_without_conflicts(self.schedule.target, pitch, 2)

    def _is_far(self, access: Access) -> bool:
        """Whether an operand is too large for the last cache, which it shares with others."""
        return self.statistics.bytes(access.array) > FAR * max(self.schedule.target.caches.values())

    def _waits_for_lines(self) -> bool:
        """Whether lines of scattered operands, in L2, come slower than products are computed."""
        found = self.found
        size = bytes_of(found.streamed[0].array.element_type)
        scattered = sum(
            lines(count, size, self.schedule.target.cache_line)
            for accesses, count in (
                (found.streamed, self.width),
                (found.broadcast, self.tile.rows),
            )
            for access in accesses
            if self._is_scattered(access)
        )
        return waits_for_lines(self.tile, scattered, self.schedule.target, level=1)

    def _pack(self, order: tuple[str, str], copies: Sequence[_Copy]) -> None:
        """Copies operands for some terms of the sum at a time."""
        panel = int(self.schedule.target.caches[1] * PANEL_OF_L1)
        depth = max(1, panel // (self.width * bytes_of(self.found.streamed[0].array.element_type)))
        tiles = self.make_tiles((self.found.terms,), (depth,))
        self.interchange((*tiles, *order, self.found.terms))
        statement = self.schedule.scop.statement(self.found.statement)
        for copy in copies:
            reads = [f"{statement.name}.{read_number(statement, access)}" for access in copy.reads]
            rows = self.pack_panels(
                tiles[0], copy.array, copy.cut, copy.width, scaled=copy.scaled, reads=tuple(reads)
            )
            if self.threads > 1:
                self.step(Parallel((rows,)))

    def _stride(self, access: Access, loop: str) -> int:
        """By how many elements an access moves from one iteration of a loop to the next."""
        statement = self.statistics.statements[self.found.statement]
        return statement.stride(access, statement.slopes(self.loops[loop]), self.statistics)

    def _subscript(self, access: Access, loop: str) -> int | None:
        """The last subscript of an access that a loop changes."""
        slopes = self.statistics.statements[self.found.statement].slopes(self.loops[loop])
        steps = subscript_steps(access, slopes)
        return max((position for position, step in enumerate(steps) if step), default=None)

    def _parallel(self, tiles: Sequence[str]) -> bool:
        for tile in tiles:
            try:
                self.step(Parallel((self.name(tile),)))
            except TransformationError:
                continue
            return True
        return False
