"""Strategy: contractions over earlier results (nonserial polyadic dynamic programming).

Matrix chains, optimal search trees, RNA folding, parsing, alignments with general gaps: an element
of a table accumulates terms made of elements that were finished before it. In tiles of the table,
most terms only need elements of other tiles, all finished: they are a product over some semiring,
for which a block of the table stays in registers. What is left needs elements of the tile itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Loop, Tree, loops_around, nests, statements
from ..polyhedral.schedule_tree import Sequence as Parts
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule, Transformation
from ..transformations.distribute import Distribute
from ..transformations.interchange import Interchange
from ..transformations.parallel import Parallel
from ..transformations.reorder import Reorder
from ..transformations.sink import Sink
from ..transformations.split import Split
from ..transformations.tile import Tile
from ..transformations.unroll import Unroll
from ..transformations.vectorize import Vectorize
from ..transformations.wavefront import Wavefront
from .operand_tiles import Bound, bounds
from .semiring_product import ProductLoops, in_panels, in_register_tiles, product_tile
from .steps import Steps, added_statements, attempt
from .subscript_order import by_subscripts

PROFITABLE = 200_000
"""Statement instances below which tiles are not worth their edges."""

WIDTH, TILES = 96, 8
"""Rows and columns of a tile, and how many there are at least, about: larger ones leave more terms
to the tile itself, smaller ones use what is packed less often. As many terms are packed at a time:
other sizes make sets that cannot be counted."""


def nonserial_recurrences(
    schedule: Schedule, nest: Tree, context: SchedulingContext
) -> Schedule | None:
    """Tiles of the table; terms with operands in earlier tiles as products in register tiles.

    for i descending: for j > i: { S; for i < k < j: T: C[i, j] max= C[i, k] + C[k, j] }
    ->  wavefronts of tiles: { for k between the tile's rows and columns: 6 x 16 blocks of T;
                               for i: { for other k: vector j: T;  for j: { S; vector j: T } } }
    """
    for ordered in _orders(schedule, nest, context):
        found = recognise(ordered, statements(nest), context)
        if found is None:
            continue
        try:
            return _Plan(ordered, found, context).apply()
        except TransformationError:
            continue
    return None


def _orders(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Iterator[Schedule]:
    """The nest in loops over rows and columns of the table that a contraction fills."""
    for name in statements(nest):
        accumulation = schedule.dependences.accumulations.get(name)
        loops = loops_around(schedule.tree, name)
        if accumulation is None or len(loops) != 3 or not _reads_results(schedule, name):
            continue
        statement = context.statistics(schedule.scop).statements[name]
        yield from by_subscripts(schedule, name, accumulation.store, statement)
        return


def _reads_results(schedule: Schedule, name: str) -> bool:
    """Whether the terms of a contraction have elements of the table that it fills."""
    accumulation = schedule.dependences.accumulations[name]
    return accumulation.reassociable and any(
        read.array is accumulation.store.array
        for read in schedule.scop.statement(name).reads
        if read is not accumulation.load
    )


@dataclass(frozen=True)
class Recurrence:
    """A table filled by two loops, `rows` around `vector`, and its contractions.

    `terms` has the loops over terms by statement, `bounds` what terms need only earlier tiles.
    """

    rows: str
    vector: str
    terms: dict[str, str]
    bounds: dict[str, tuple[Bound, ...]]


def recognise(
    schedule: Schedule, names: Sequence[str], context: SchedulingContext
) -> Recurrence | None:
    """The recurrence that the nest of some statements is, if its loops run over the table."""
    statistics = context.statistics(schedule.scop)
    table = loops_around(schedule.tree, names[0])[:2]
    terms: dict[str, str] = {}
    found: dict[str, tuple[Bound, ...]] = {}
    for name in names:
        around = loops_around(schedule.tree, name)
        if around[:2] != table:
            return None
        if len(around) == 3 and name in schedule.dependences.accumulations:
            own = _bounds(schedule, name, (around[0], around[1]), around[2])
            if own is None:
                return None
            terms[name], found[name] = around[2].name, own
    if sum(statistics.statements[name].instances for name in terms) < PROFITABLE:
        return None
    return Recurrence(table[0].name, table[1].name, terms, found)


def _bounds(
    schedule: Schedule, name: str, table: tuple[Loop, Loop], terms: Loop
) -> tuple[Bound, ...] | None:
    """What terms of a contraction need only earlier tiles; None where it is not of the kind."""
    accumulation = schedule.dependences.accumulations[name]
    if not _reads_results(schedule, name):
        return None
    found: dict[Bound, None] = {}
    for read in schedule.scop.statement(name).reads:
        if read is accumulation.load or read.array is not accumulation.store.array:
            continue
        own = bounds(name, table, terms, accumulation.store, read)
        if own is None:
            return None
        found |= dict.fromkeys(own)
    kinds = [bound.is_lower for bound in found]
    return tuple(found) if found and len(set(kinds)) == len(kinds) else None


class _Plan(Steps):
    """The transformations that tile the table."""

    def __init__(self, schedule: Schedule, found: Recurrence, context: SchedulingContext) -> None:
        self.first = next(iter(found.terms))
        super().__init__(schedule, self.first)
        self.found = found
        self.context = context
        self.tile = ""
        self.own: dict[str, tuple[str, Bound]] = {}
        """Contractions whose terms need elements of the same row and tile, with their loop."""
        statistics = context.statistics(schedule.scop).statements[self.first]
        store = schedule.dependences.accumulations[self.first].store
        self.lanes = schedule.target.lanes(store.array.element_type)
        self.register_tile = product_tile(statistics.statement, schedule.target.vector_registers)
        extent = max(statistics.trips(loops_around(schedule.tree, self.first)[:2]))
        width = self.register_tile.vectors * self.lanes
        self.size = width * max(1, round(min(WIDTH, extent / TILES) / width))

    def apply(self) -> Schedule:
        """The whole schedule; raises TransformationError."""
        found = self.found
        rows, vector = f"{self.first}.{found.rows}", f"{self.first}.{found.vector}"
        sizes = (self.size, self.size)
        step = Tile((rows, vector), sizes)
        tiles = dict(zip((found.rows, found.vector), step.new_loops(self.schedule), strict=True))
        self.step(step)
        self.tile = tiles[found.vector]
        interior = {name: self._cut(name, tiles) for name in found.terms}
        self._distribute(tuple(interior.values()))
        for name, product in interior.items():
            loops = ProductLoops(product, found.rows, found.vector, found.terms[name])
            self._product(loops)
        self._rest(tuple(interior.values()))
        if self.context.threads > 1:
            around = tuple(f"{self.first}.{tiles[loop]}" for loop in (found.rows, found.vector))
            self.step(Wavefront(around, (1, 1)))
            self.step(Parallel(around[1:]))
        return self.schedule

    def _product(self, loops: ProductLoops) -> None:
        """Register tiles for the terms with operands in earlier tiles, from packed panels."""
        tile = self.register_tile
        statistics = self.context.statistics(self.schedule.scop)
        statement = statistics.statements[loops.statement]
        result = self.schedule.dependences.accumulations[loops.statement].store
        streamed = [
            read
            for read in statement.statement.reads
            if read.array is result.array
            and read.map.results != result.map.results
            and read.coefficients[-1] == result.coefficients[-1]
        ]
        if streamed and statistics.bytes(result.array) > self.schedule.target.caches[2]:
            self.schedule = in_panels(self.schedule, loops, streamed, tile, self.lanes, self.size)
        self.schedule = in_register_tiles(self.schedule, loops, tile, self.lanes)

    def _cut(self, name: str, tiles: dict[str, str]) -> str:
        """Splits the loop over terms; the statement with those that need only earlier tiles."""
        result = name
        for bound in sorted(self.found.bounds[name], key=lambda bound: bound.is_lower):
            at = bound.at(tiles[bound.loop], self.size)
            step = Split((f"{result}.{self.found.terms[name]}",), at)
            after = attempt(self.schedule, step)
            if after is None:
                continue
            (above,) = added_statements(self.schedule, after)
            self.schedule = after
            if bound.is_lower:
                result = above
            elif bound.loop == self.found.vector:
                self.own[above] = self.found.terms[name], bound
        return result

    def _body(self, name: str) -> list[tuple[str, ...]]:
        """The statements of each part of what the loop `vector` around a statement runs."""
        body = self.schedule.loop(f"{name}.{self.found.vector}").body
        parts = body.children if isinstance(body, Parts) else (body,)
        return [statements(part) for part in parts]

    def _distribute(self, products: Sequence[str]) -> None:
        """The products in nests of their own, behind as little as possible."""
        parts = [part[0] for part in self._body(products[0])]
        others = [name for name in parts if name not in products]
        loops = tuple(f"{products[0]}.{loop}" for loop in (self.found.rows, self.found.vector))
        for count in range(len(others)):
            order = (*others[:count], *products, *others[count:])
            cuts = (*others[count - 1 : count], *products)
            steps: list[Transformation] = [Distribute(loops, cuts)]
            if list(order) != parts:
                steps.insert(0, Reorder(statements=order))
            try:
                self.schedule = self.schedule.apply_all(steps)
            except TransformationError:
                continue
            return
        raise TransformationError("the products need what the tile itself computes")

    def _rest(self, products: Sequence[str]) -> None:
        """What needs elements of the tile itself: row by row, in vectors as far as possible."""
        body = self.schedule.loop(f"{products[0]}.{self.tile}").body
        for names in [statements(part) for part in nests(body)]:
            if not set(names) & set(products):
                self._rows(names)

    def _rows(self, names: Sequence[str]) -> None:
        """A nest over rows: parts without recurrences along a row apart, and in vectors."""
        parts = self._body(names[0])
        apart: list[tuple[str, ...]] = []
        for part in parts:
            others = [other for other in parts if other not in (part, *apart)]
            if not others:
                break
            steps: list[Transformation] = [
                Reorder(statements=(part[0], *(other[0] for other in others))),
                Distribute((f"{part[0]}.{self.found.vector}",), part[-1:]),
            ]
            try:
                self.schedule = self.schedule.apply_all(steps)
            except TransformationError:
                continue
            apart.append(part)
        for part in apart:
            self._in_vectors(part)
        rest = [part for part in parts if part not in apart]
        if len(rest) == 1:
            self._in_vectors(rest[0])
        else:
            self._right_looking(rest)

    def _in_vectors(self, part: Sequence[str]) -> None:
        """Elements of a row in vectors, which stay in registers while their terms run."""
        vector = f"{part[0]}.{self.found.vector}"
        inner = self.schedule.loop(vector).body
        steps: list[Transformation] = [Vectorize((vector,), self.lanes)]
        if isinstance(inner, Loop):
            steps.insert(0, Interchange((f"{part[0]}.{inner.name}", vector)))
            steps.insert(1, Unroll((vector,)))
        with suppress(TransformationError):
            self.schedule = self.schedule.apply_all(steps)

    def _right_looking(self, rest: Sequence[Sequence[str]]) -> None:
        """Finishes an element, then adds its terms to all behind it in the row."""
        sums = [part[0] for part in rest if part[0] in self.own]
        if len(sums) != 1:
            return
        (name,) = sums
        others = [part[0] for part in rest if part[0] != name]
        vector, (terms, bound) = f"{name}.{self.found.vector}", self.own[name]
        steps = [
            Sink((f"{name}.{terms}",), f"{self.found.vector}{bound.offset}"),
            Interchange((f"{name}.{terms}", vector)),
            Reorder(statements=(*others, name)),
            Distribute((vector,), (others[-1],)),
            Vectorize((vector,), self.lanes),
        ]
        with suppress(TransformationError):
            self.schedule = self.schedule.apply_all(steps)
