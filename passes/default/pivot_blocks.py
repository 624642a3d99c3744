"""Strategy: blocks of pivots, with versions of the pivot rows and columns.

All-pairs paths (Floyd-Warshall), transitive closure, reliability, Gauss-Jordan elimination: step k
updates a whole table in place with its row k and its column k, which it changes as well. Blocks of
steps are exact for all values where every other element gets the row's and the column's values that
its step reads: those before the step, or behind its own update of them. These are kept in panels,
one version for each step of a block. Then the steps of a block run on its own rows and columns
first; all other elements are a product over some semiring (min, plus; max, times; or, and).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..estimate.program_statistics import bytes_of
from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Loop, Tree, chain, nests, statements
from ..polyhedral.scop import Access
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule, Transformation
from ..transformations.distribute import Distribute
from ..transformations.fuse import Fuse
from ..transformations.interchange import Interchange
from ..transformations.pack import Pack, read_number
from ..transformations.parallel import Parallel
from ..transformations.reorder import Reorder
from ..transformations.split import Split
from ..transformations.strip_mine import StripMine
from ..transformations.tile import Tile
from ..transformations.unroll import Unroll
from ..transformations.vectorize import Vectorize
from .contraction import is_contiguous, selects
from .operand_tiles import bounds
from .semiring_product import ProductLoops, in_register_tiles, product_tile
from .steps import Steps, added_statements

PROFITABLE = 6_000_000
"""Statement instances below which blocks are not worth their edges."""

BLOCK = 64
"""Steps of a block."""

STRIP = 64
"""Rows or columns of a panel that a thread takes at a time."""

PANEL_OF_L2 = 0.5
"""The part of the second-level cache that rows of pivots fill, for a block of columns."""

HEIGHT = 16
"""Register tiles, one above the other, that a thread computes at a time."""

Region = tuple[int, int]
"""A part of the table: rows and columns before (-1), in (0) or behind (1) those of the block."""


@dataclass(frozen=True)
class Pivots:
    """A table that a statement updates in place, by the names of the loops around it.

    `operands` are the reads of other elements, with the subscripts in which these are pivots.
    """

    statement: str
    steps: str
    rows: str
    columns: str
    operands: tuple[tuple[int, Region], ...]


def pivot_blocks(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Schedule | None:
    """Blocks of steps: the block itself, panels beside and above it, then all the rest.

    for k: for i: for j: S: A[i, j] = f(A[i, j], A[i, k], A[k, j])
    ->  for kt: { for k: { C[k, i] = A[i, k]; R[k, j] = A[k, j]; S in rows and columns kt };
                  parallel it: for jt: for k: 6 x 16 block of S, with C and R }
    """
    found = recognise(schedule, nest, context)
    if found is None:
        return None
    try:
        return _Plan(schedule, found, context).apply()
    except TransformationError:
        return None


def recognise(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Pivots | None:
    """The pivoting that a nest is, if it is one."""
    names = statements(nest)
    around = chain(nest) if isinstance(nest, Loop) else ()
    if len(names) != 1 or len(around) != 3:
        return None
    statistics = context.statistics(schedule.scop)
    statement = statistics.statements[names[0]]
    writes = statement.statement.writes
    if len(writes) != 1 or statement.instances < PROFITABLE:
        return None
    (store,) = writes
    steps, *table = around
    vector = [loop for loop in table if is_contiguous(statement, loop, store)]
    is_box = statement.points.is_box()
    if len(vector) != 1 or len(store.map.results) != 2 or selects(statement, steps, store):
        return None
    (rows,) = (loop for loop in table if loop is not vector[0])
    if not is_box or not selects(statement, rows, store):
        return None
    operands: list[tuple[int, Region]] = []
    for read in statement.statement.reads:
        if read.array is not store.array or read.map.results == store.map.results:
            continue
        pivots = _pivots(names[0], (rows, vector[0]), steps, store, read)
        if pivots is None:
            return None
        operands.append((read_number(statement.statement, read), pivots))
    if not {(1, 0), (0, 1)} <= {pivots for _, pivots in operands}:
        return None
    return Pivots(names[0], steps.name, rows.name, vector[0].name, tuple(operands))


def _pivots(
    name: str, table: tuple[Loop, Loop], steps: Loop, store: Access, read: Access
) -> Region | None:
    """Whether the row, and whether the column of what is read is that of the step (1, else 0)."""
    found = bounds(name, table, steps, store, read)
    if found is None:
        return None
    if any(bound.is_lower or bound.offset for bound in found):
        return None
    loops = {bound.loop for bound in found}
    return int(table[0].name in loops), int(table[1].name in loops)


class _Plan(Steps):
    """The transformations that make blocks of steps."""

    def __init__(self, schedule: Schedule, found: Pivots, context: SchedulingContext) -> None:
        super().__init__(schedule, found.statement)
        self.found = found
        self.context = context
        statement = schedule.scop.statement(found.statement)
        self.array = statement.writes[0].array
        self.lanes = schedule.target.lanes(self.array.element_type)
        self.tile = product_tile(statement, schedule.target.vector_registers)
        self.parts: dict[Region, str] = {}
        self.copies: dict[Region, list[str]] = {}
        """Statements by the part of the table that they copy from."""

    def apply(self) -> Schedule:
        """The whole schedule; raises TransformationError."""
        self._cut()
        for region in self.parts:
            if region[0]:
                self._version(region, self.found.steps)
        phases = self._phases()
        self._apart(phases)
        for region in phases:
            if region == (0, 0):
                continue
            if 0 not in region:
                self._product(region)
            elif region[0] == 0:
                self._panel(region, along=1)
            else:
                self._panel(region, along=0)
        return self.schedule

    def _added(self, step: Transformation) -> str:
        """Applies a step; the name of the statement that it has added."""
        before = self.schedule
        self.step(step)
        (name,) = added_statements(before, self.schedule)
        return name

    def _cut(self) -> None:
        """Blocks of steps, and the table in nine parts: before, in and behind the block."""
        found = self.found
        step = StripMine((found.steps,), BLOCK)
        (blocks,) = step.new_loops(self.schedule)
        self.step(step)
        self.interchange((found.steps, found.rows, found.columns))
        ends = f"{BLOCK}{blocks}", f"{BLOCK}{blocks}+{BLOCK}"

        def thirds(name: str, loop: str) -> tuple[str, str, str]:
            inside = self._added(Split((f"{name}.{loop}",), ends[0]))
            return name, inside, self._added(Split((f"{inside}.{loop}",), ends[1]))

        rows = thirds(found.statement, found.rows)
        for row, name in zip((-1, 0, 1), rows, strict=True):
            parts = thirds(name, found.columns)
            self.parts |= {(row, k): part for k, part in zip((-1, 0, 1), parts, strict=True)}
            if row == 0:
                self._version_rows(*parts)
            else:
                self.step(Distribute((f"{name}.{found.rows}",)))

    def _version_rows(self, before: str, inside: str, behind: str) -> None:
        """Copies row by row what rows of the block read of the block, and takes these apart."""
        rows = self.found.rows
        copies = [self._version((0, k), rows, (0, 0)) for k in (-1, 1)]
        own = (*copies[0], inside, *copies[1])
        self.step(Reorder(statements=(*own, before, behind)))
        self.step(Distribute((f"{before}.{rows}",), (own[-1], before)))

    def _version(self, region: Region, loop: str, home: Region | None = None) -> list[str]:
        """Copies in a loop what a part of the table reads of other parts, or of `home` alone.

        The statements that copy.
        """
        name = self.parts[region]
        added: list[str] = []
        for read, pivots in self.found.operands:
            row, column = (0 if p else own for p, own in zip(pivots, region, strict=True))
            if (row, column) == region or home not in (None, (row, column)):
                continue
            pack = Pack((f"{name}.{loop}",), self.array.name, reads=(f"{name}.{read}",))
            copy = self._added(pack)
            self.copies.setdefault((row, column), []).append(copy)
            added.append(copy)
        return added

    def _phases(self) -> dict[Region, list[tuple[str, ...]]]:
        """What each part of the table runs in a step, in its order: the block's own part first."""
        regions = {name: region for region, name in self.parts.items()}
        regions |= {name: region for region, names in self.copies.items() for name in names}
        body = self.schedule.loop(f"{self.parts[0, 0]}.{self.found.steps}").body
        phases: dict[Region, list[tuple[str, ...]]] = {
            region: [] for region in sorted(self.parts, key=lambda each: sum(map(abs, each)))
        }
        for part in nests(body):
            phases[regions[statements(part)[0]]].append(statements(part))
        return phases

    def _apart(self, phases: dict[Region, list[tuple[str, ...]]]) -> None:
        """The parts of the table one after the other, each with all steps of a block."""
        order = [names[0] for parts in phases.values() for names in parts]
        self.step(Reorder(statements=tuple(order)))
        last = [parts[-1][-1] for parts in phases.values()]
        self.step(Distribute((f"{order[0]}.{self.found.steps}",), tuple(last[:-1])))

    def _panel(self, region: Region, along: int) -> None:
        """Strips of a panel, each with all steps: along its columns, or else its rows."""
        name = self.parts[region]
        loops = {name: (self.found.rows, self.found.columns)}
        names = statements(self.schedule.loop(f"{name}.{self.found.steps}"))
        strips: list[str] = []
        for statement in names:
            own = loops.setdefault(statement, (f"{self.array.name}0", f"{self.array.name}1"))
            if along == 1:
                self.step(Interchange((f"{statement}.{own[1]}", f"{statement}.{own[0]}")))
            step = StripMine((f"{statement}.{own[along]}",), STRIP)
            strips += [f"{statement}.{loop}" for loop in step.new_loops(self.schedule)]
            self.step(step)
        if len(strips) > 1:
            self.step(Fuse(tuple(strips)))
        strip = strips[0]
        self.step(Interchange((strip, f"{name}.{self.found.steps}")))
        if self.context.threads > 1:
            self.step(Parallel((strip,)))
        if along == 0:
            self._transposed(name, strip)
        for statement in names:
            own = loops[statement]
            vector, other = own[along], own[1 - along]
            self.step(Interchange((f"{statement}.{other}", f"{statement}.{vector}")))
            self.step(Vectorize((f"{statement}.{vector}",), self.lanes))

    def _transposed(self, name: str, strip: str) -> None:
        """Packs a strip of rows, so that rows lie side by side."""
        before = self.schedule
        self.step(Pack((strip,), self.array.name, (1, 0)))
        added = added_statements(before, self.schedule)
        for copy in added:
            rows, columns = (f"{copy}.{self.array.name}{k}" for k in range(2))
            is_filled = copy == added[0]
            self.step(Tile((rows, columns), (self.lanes, self.lanes)))
            self.step(Unroll((rows, columns)))
            self.step(Vectorize((rows if is_filled else columns,), self.lanes))

    def _product(self, region: Region) -> None:
        """All steps of a block on the rest of the table, in register tiles."""
        found = self.found
        steps = Steps(self.schedule, self.parts[region])
        steps.interchange((found.rows, found.columns, found.steps))
        width = self.tile.vectors * self.lanes
        element = bytes_of(self.array.element_type)
        panel = int(self.schedule.target.caches[2] * PANEL_OF_L2) // (BLOCK * element * width)
        sizes = (HEIGHT * self.tile.rows, width * max(1, panel))
        row_tiles, column_tiles = steps.make_tiles((found.rows, found.columns), sizes)
        steps.interchange((column_tiles, row_tiles, found.rows, found.columns, found.steps))
        loops = ProductLoops(steps.statement, found.rows, found.columns, found.steps)
        self.schedule = in_register_tiles(steps.schedule, loops, self.tile, self.lanes)
        if self.context.threads > 1:
            self.step(Parallel((steps.name(row_tiles),)))
