"""Strategy: tensor contractions, register-tiled and packed as in GEMM.

Matrix products, batched or transposed, tensor contractions and the like: of the loops around an
accumulation, some select an element of the result and some run over the terms of its sum. One of
the former becomes the vector loop, another one makes the rows of a block of accumulators that
stays in registers while the sum runs; operands are copied into panels in the order of their use.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod

from xdsl.dialects.builtin import f32

from ...dialects.arith import ExtFOp
from ..estimate.parallel_profitability import LEAST_CYCLES
from ..estimate.program_statistics import (
    ProgramStatistics,
    bytes_of,
)
from ..estimate.register_tile import RegisterTile, even_size
from ..estimate.scheduling_context import SchedulingContext
from ..estimate.vector_widths import narrowed
from ..polyhedral.scaled_loads import scaled_load
from ..polyhedral.schedule_tree import Loop, Tree, chain, loops_around, statements
from ..polyhedral.scop import Access
from ..polyhedral.widened_loads import widened_load
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.pack import Pack, read_number
from ..transformations.parallel import Parallel
from ..transformations.unroll import Unroll
from ..transformations.vectorize import Vectorize
from .contraction import (
    LEAST_TERMS,
    BlockSteps,
    Contraction,
    recognise,
    selects,
    stride_along,
    tile_of,
)
from .integer_products import PAIR, paired_subscript, paired_term
from .lines_of_products import LineOfProducts, line_of_products
from .steps import added_statements

PANEL_OF_L1 = 1.5
"""The bytes of one panel of the streamed operand, in first-level caches: it streams from L2."""

BLOCK_OF_L2 = 0.5
"""The part of the second-level cache that a block of an operand may fill."""

WIDEST_PANELS = 4 << 20
"""Bytes of all panels of the streamed operand that come from the last-level cache."""

CONFLICTING_SHARE = 8
"""Rows that are a multiple of such a part of a cache's period apart fall into few of its sets."""

REUSES_WORTH_A_COPY = 2
"""An operand is packed when more register tiles than this use each of its elements."""


def tensor_contraction(
    schedule: Schedule,
    nest: Tree,
    context: SchedulingContext,
    *,
    transposed: bool = False,
    streams: int = 1,
) -> Schedule | None:
    """Register tile, cache tiles, panels, vectors and threads for one accumulation.

    Vectors go along rows of the result, or down its columns if `transposed`. At most so many
    `streams` are read along them.

    for i: for j: for k: C[i, j] += A[i, k] * B[k, j]
    ->  parallel it: for jt: for kt: pack B: for jt2: for it2: for k: 8 x 24 block of C in registers
    """
    statistics = context.statistics(schedule.scop)
    names = statements(nest)
    if len(names) != 1 or not isinstance(nest, Loop):
        return None
    found = recognise(
        schedule, names[0], chain(nest), statistics, transposed=transposed, streams=streams
    )
    if found is None:
        return None
    try:
        return ContractionPlan(schedule, found, statistics, context).apply()
    except TransformationError:
        return None


class ContractionPlan(BlockSteps):
    """Tile sizes, and the transformations that tile."""

    def __init__(
        self,
        schedule: Schedule,
        found: Contraction,
        statistics: ProgramStatistics,
        context: SchedulingContext,
        panels_at: str | None = None,
        tile: RegisterTile | None = None,
    ) -> None:
        self.panels_at = panels_at
        """The loop in which the streamed operand is packed once; by default a tile loop."""
        super().__init__(schedule, found.statement)
        self.found = found
        self.context = context
        self.statistics = statistics
        wide = self._is_extended(found.streamed)
        self.element = bytes_of(f32 if wide else found.streamed.array.element_type)
        self.element *= len(found.all_streamed)
        """Bytes of an element of each operand that streams."""
        extents = found.extents
        lanes = schedule.target.lanes
        (result,) = statistics.statements[found.statement].statement.writes
        kinds = found.streamed.array.element_type, result.array.element_type
        self.lanes = narrowed(min(map(lanes, kinds)), extents[found.vector])
        self.depth = prod(extents[name] for name in found.terms)
        vectors = ceil(extents[found.vector] / self.lanes)
        self.pair = paired_term(
            statistics.statements[found.statement].statement,
            (*found.all_streamed, *found.broadcast),
            {term: found.iterators[term] for term in found.terms},
            extents,
            schedule.target,
        )
        self.tile = tile or tile_of(found, vectors, context, schedule.target, self._tallest())
        self.width = self.tile.vectors * self.lanes
        cycles = prod(extents.values()) / self.lanes / schedule.target.multiply_adds_per_cycle
        self.threads = context.threads if cycles >= LEAST_CYCLES else 1
        self.line = (
            None
            if panels_at or found.beside
            else line_of_products(schedule, found, statistics, self.element)
        )
        self.batches = self._batches()
        self.share = 1 if self.batches >= self.threads else self.threads
        """How many threads share one product: all but where there are products for each."""
        self.by_rows = self._goes_by_rows()
        self.sizes = self._tile_sizes()
        self.sharing = () if panels_at or self.line else self._sharing()

    def apply(self) -> Schedule | None:
        """The schedule with the contraction in tiles; None where the operand cannot be streamed."""
        found = self.found
        packs = self.is_packed()
        for streamed in found.all_streamed:
            if not packs and self._stride(streamed, found.vector) != 1:
                return None
            cut = self._subscript(streamed, found.vector)
            if packs and [each for each in streamed.coefficients[cut] if each] != [1]:
                return None  # A vector would cross panels.
        # The terms stay in their order, which decides how a sum is rounded.
        tiled, *inner = found.terms
        sharing = self.sharing if packs else ()
        line = self.line if packs else None
        inside = line.inside if line else sharing
        others = (*(name for name in found.others if name not in inside), *inside)
        self.interchange((*others, found.rows, found.vector, *found.terms))
        block = self._block_of_products(sharing) if sharing else None
        outside: tuple[str, ...] = ()
        if line:
            (block,) = self.make_tiles((line.loop,), (line.size,))
            outside = (*line.outside, block)
        rows, vector, terms = self.make_tiles((found.rows, found.vector, tiled), self.sizes)
        outer = (rows, vector, terms) if self.by_rows else (vector, terms, rows)
        panels_at = self.panels_at or block or terms
        if line:
            panels_at, before = terms, outer.index(terms) + 1
            outer = (*outer[:before], *line.inside, *outer[before:])
        self.interchange((*outside, *outer, found.rows, found.vector, tiled))
        pairs = self.pair if packs and self._has_own_arrays() else None
        if pairs is not None:
            self._pack_pairs(pairs, panels_at, outer[-1])
        elif packs:
            for streamed in found.all_streamed:
                wide = self._is_extended(streamed)
                reads = () if self._has_own_arrays() else (self._read(streamed),)
                cut = self._subscript(streamed, found.vector)
                first = self._subscript(streamed, line.loop) if line else None
                self.pack_panels(
                    panels_at,
                    streamed.array,
                    cut,
                    self.width,
                    first=first,
                    widened=wide,
                    reads=reads,
                )
        for access in found.broadcast if pairs is None else ():
            scaled = self._is_scaled(access)
            wide = packs and self._is_extended(access)
            gains = scaled or wide or (packs and self._has_conflicts(access))
            if gains and self._has_own_arrays():
                self._pack_rows(access, outer[-1], scaled=scaled, widened=wide)
        registers = (self.tile.rows, self.width)
        row_blocks, vector_blocks = self.make_tiles((found.rows, found.vector), registers)
        if not self.by_rows:
            self.interchange((vector_blocks, row_blocks))
        if found.is_transposed:
            self._pack_result(vector_blocks if self.by_rows else row_blocks)
        around = [tiled, *inner]
        if pairs is not None:
            (tiles,) = self.make_tiles((pairs,), (PAIR,))
            around[around.index(pairs)] = tiles
            around.append(pairs)
        self.interchange((*around, found.rows, found.vector))
        if pairs is not None:
            self.step(Unroll((self.name(pairs),)))
        for part, taps in self.split_blocks(found, row_blocks, self.tile, self.context):
            members = (*taps, found.rows, found.vector)
            self.step(Unroll(tuple(f"{part}.{name}" for name in members)))
            self.step(Vectorize((f"{part}.{found.vector}",), self.lanes))
        if self.threads > 1:
            parallel = outer[0]
            if self.share == 1:
                parallel = block if block and inside == others else others[0]
                if self.line and parallel == block and self._blocks(self.line) < self.threads:
                    parallel = self.line.inside[0]
            self.step(Parallel((self.name(parallel),)))
        return self.schedule

    def _batches(self) -> int:
        """Iterations of the loop over products that threads can share."""
        extents, line = self.found.extents, self.line
        if line and not line.outside:
            return max(self._blocks(line), extents[line.inside[0]])
        outside = line.outside if line else self.found.others
        return min((extents[name] for name in outside[:1]), default=1)

    def _blocks(self, line: LineOfProducts) -> int:
        """Blocks of products that have their panels copied together."""
        return ceil(self.found.extents[line.loop] / line.size)

    def _sharing(self) -> tuple[str, ...]:
        """The loops over products that all use the same operand in whole: it is packed once.

        They go inside of those that use others. An operand that tiles cut has to stay in a cache.
        """
        whole = zip(self.sizes[1:], (self.found.vector, self.found.terms[0]), strict=True)
        is_cut = any(size < self.found.extents[name] for size, name in whole)
        copied = self.found.extents[self.found.vector] * self.depth * self.element
        if is_cut and copied > self.schedule.target.caches[2] * BLOCK_OF_L2:
            return ()
        statement = self.statistics.statements[self.found.statement]
        around = {loop.name: loop for loop in loops_around(self.schedule.tree, self.statement)}
        return tuple(
            name
            for name in self.found.others
            if not any(selects(statement, around[name], a) for a in self.found.all_streamed)
        )

    def _block_of_products(self, sharing: Sequence[str]) -> str:
        """Makes a loop around all products of a thread that share an operand."""
        extent = self.found.extents[sharing[0]]
        is_outermost = self.share == 1 and len(sharing) == len(self.found.others)
        size = ceil(extent / self.threads) if is_outermost else extent
        (block,) = self.make_tiles(sharing[:1], (size,))
        return block

    def _pack_pairs(self, term: str, panels: str, rows: str) -> None:
        """Both operands packed so that neighbouring terms of the sum lie together, in 16 bits."""
        found = self.found
        position = found.iterators[term]
        cut = self._subscript(found.streamed, found.vector)
        self.pack_panels(
            panels,
            found.streamed.array,
            cut,
            self.width,
            paired_subscript(found.streamed, position),
            widened=bytes_of(found.streamed.array.element_type) == 1,
        )
        for access in found.broadcast:
            last = paired_subscript(access, position)
            order = (*(k for k in range(len(access.array.shape)) if k != last), last)
            is_byte = bytes_of(access.array.element_type) == 1
            if is_byte or last != len(order) - 1:
                name = access.array.name
                self.step(Pack((self.name(rows),), name, order, widened=is_byte))
                loop = f"pack_{name}.{name}{len(order) - 1}"
                self.step(Vectorize((loop,), self.schedule.target.lanes(access.array.element_type)))

    def _pack_result(self, loop: str) -> None:
        """A block of the result of its own, with the column that vectors go down as a row."""
        statement = self.schedule.scop.statement(self.found.statement)
        (result,) = statement.writes
        column = self._subscript(result, self.found.vector)
        order = (*(k for k in range(len(result.array.shape)) if k != column), column)
        self.step(Pack((self.name(loop),), result.array.name, order))

    def _tallest(self) -> int | None:
        """How many rows of the result a register tile may have at most, if that is limited.

        Each is a row of an operand that comes from memory, where that is too large for a cache.
        """
        largest = max((self.statistics.bytes(a.array) for a in self.found.broadcast), default=0)
        target = self.schedule.target
        return target.prefetched_streams if largest > target.last_cache else None

    def _goes_by_rows(self) -> bool:
        """Whether threads and tiles take whole rows of the result instead of panels.

        So the result streams through once where sums are short, or panels are too few to share.
        """
        panels = ceil(self.found.extents[self.found.vector] / self.width)
        blocks = ceil(self.found.extents[self.found.rows] / self.tile.rows)
        if panels < 2 * self.share:
            return blocks > panels
        return blocks >= 4 * self.share and self.depth <= self._deepest()

    def _deepest(self) -> int:
        """Terms that a panel in the nearest cache has."""
        panel = int(self.schedule.target.caches[1] * PANEL_OF_L1)
        return max(1, panel // (self.width * self.element))

    def _tile_sizes(self) -> tuple[int, int, int]:
        """Tiles of the rows, the vector loop and the outermost loop of terms."""
        term = self.found.terms[0]
        rows, vector, depth = self._rows_first(term) if self.by_rows else self._panels_first(term)
        if self.found.unrolled and self.tile.rows == self.found.extents[self.found.rows]:
            # One block of rows uses each panel once: no part of it is to stay in a cache.
            return rows, self.found.extents[self.found.vector], self.found.extents[term]
        return rows, vector, depth

    def _panels_first(self, term: str) -> tuple[int, int, int]:
        """Tiles of the rows, the vector loop and a loop of terms: rows in L2, panels behind it."""
        extents = self.found.extents
        around = max(1, self.depth // extents[term])
        depth = even_size(extents[term], self._deepest() // around, 4)
        if depth < extents[term] and depth * self.element % self._conflicting_pitch() == 0:
            depth += self.schedule.target.cache_line // self.element
        column = depth * around * self.element
        block = int(self.schedule.target.caches[2] * BLOCK_OF_L2) // column
        height = even_size(extents[self.found.rows], block, self.tile.rows)
        share = ceil(extents[self.found.vector] / self.share)
        panels = WIDEST_PANELS
        if self.line:
            panels = int(self.schedule.target.caches[2] * BLOCK_OF_L2) // self.line.copies
        return height, even_size(share, max(self.width, panels // column), self.width), depth

    def _rows_first(self, term: str) -> tuple[int, int, int]:
        """The same where rows stream: panels in L2, and as many rows as there are."""
        extents = self.found.extents
        around = max(1, self.depth // extents[term])
        block = int(self.schedule.target.caches[2] * BLOCK_OF_L2) // self.element
        block //= self.line.copies if self.line else 1
        deepest = block // min(extents[self.found.vector], 4 * self.width)
        depth = even_size(extents[term], deepest // around, 4)
        wide = even_size(extents[self.found.vector], block // (depth * around), self.width)
        share = ceil(extents[self.found.rows] / self.share)
        return even_size(share, share, self.tile.rows), wide, depth

    def is_packed(self) -> bool:
        """Whether the streamed operand is worth a copy into panels."""
        streamed, extents = self.found.streamed, self.found.extents
        reuses = extents[self.found.rows] / self.tile.rows
        if self.depth >= LEAST_TERMS:
            reuses *= prod(extents[name] for name in self.sharing)
        if self.line:
            return True
        if reuses <= REUSES_WORTH_A_COPY:
            return False
        if self.pair is not None or any(
            self._stride(each, self.found.vector) != 1 for each in self.found.all_streamed
        ):
            return True
        pitches = [abs(self._stride(streamed, name)) for name in self.found.terms]
        pitch = min((pitch for pitch in pitches if pitch), default=0)
        if pitch <= self.width:
            return False
        used = extents[self.found.vector] * self.depth * self.element
        target = self.schedule.target
        has_conflicts = pitch * self.element % self._conflicting_pitch() == 0
        # Rows need no copy where all of their pages are found at once.
        return used > (target.caches[1] // 2 if has_conflicts else target.tlb_entries * target.page)

    def _stride(self, access: Access, loop: str) -> int:
        """By how many elements an access moves from one iteration of a loop to the next."""
        return stride_along(self.found, access, loop, self.statistics)

    def _has_own_arrays(self) -> bool:
        """Whether every operand is an array of its own: a copy would replace all uses."""
        arrays = [access.array for access in (*self.found.all_streamed, *self.found.broadcast)]
        return len(set(arrays)) == len(arrays)

    def _read(self, streamed: Access) -> str:
        """The read of a streamed operand, as `Pack` names it."""
        statement = self.schedule.scop.statement(self.found.statement)
        return self.name(str(read_number(statement, streamed)))

    def _pack_rows(self, access: Access, loop: str, *, scaled: bool, widened: bool) -> None:
        """Copies an operand of which single elements are used, so that its rows lie together."""
        name, before = access.array.name, self.schedule
        self.step(Pack((self.name(loop),), name, scaled=scaled, widened=widened))
        copy = added_statements(before, self.schedule)[0]
        self.step(Vectorize((f"{copy}.{name}{len(access.array.shape) - 1}",), self.lanes))

    def _is_extended(self, access: Access) -> bool:
        """Whether it is of f16 or bf16 and only used as f32, which its copy holds then."""
        scop = self.schedule.scop
        statement = scop.statement(self.found.statement)
        now = next(each for each in statement.accesses if each.array == access.array)
        found = widened_load(statement, now)
        return found is not None and found.kind is ExtFOp

    def _is_scaled(self, access: Access) -> bool:
        """Whether only products of the operand with a scalar argument are used."""
        scop = self.schedule.scop
        statement = scop.statement(self.found.statement)
        now = next(each for each in statement.accesses if each.array == access.array)
        return scaled_load(scop, statement, now) is not None

    def _has_conflicts(self, access: Access) -> bool:
        """Whether neighbouring rows of an operand compete for the same lines of a cache."""
        pitch = self._stride(access, self.found.rows) * self.element
        return pitch > 0 and pitch % self._conflicting_pitch() == 0

    def _conflicting_pitch(self) -> int:
        """Rows that are a multiple of so many bytes apart fall into few sets of the first cache."""
        return self.schedule.target.set_periods[1] // CONFLICTING_SHARE

    def _subscript(self, access: Access, loop: str) -> int:
        """The last subscript of an access that a loop changes."""
        rows = access.coefficients
        return max(k for k, row in enumerate(rows) if row[self.found.iterators[loop]])
