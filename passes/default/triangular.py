"""The strategy for contractions over triangles: symmetric and triangular matrix products.

As for any contraction, a block of the result stays in registers while a sum runs over it. Blocks
are only tiled once: on the diagonal they are partial, and small blocks lose less there. Operands
along whose rows the sum runs are transposed into a buffer first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..polyhedral.counting import fix_parameters
from ..polyhedral.scop import Access
from ..schedule import Schedule
from ..schedule_tree import Loop, Tree, chain, statements
from ..transformation import TransformationError
from ..transformations.interchange import Interchange
from ..transformations.pack import Pack
from ..transformations.parallel import Parallel
from ..transformations.tile import Tile
from ..transformations.unroll import Unroll
from ..transformations.vectorize import Vectorize
from .contraction import is_contiguous, selects
from .facts import Facts, StatementFacts
from .request import Request
from .steps import Steps

WORTHWHILE = 500_000
"""Statement instances below which tiles are not worth their edges."""

DEPTH = 256
"""Terms of a sum that are packed at a time."""

ROWS = 8
"""Rows of a block in registers, of as many vectors as there are registers for."""


@dataclass(frozen=True)
class TriangularContraction:
    """An accumulation in three loops, by name.

    Neighbouring iterations of `vector` are neighbouring elements of the result, `rows` selects its
    rows and `terms` is the loop of the sum. `streamed` are the operands that `vector` selects.
    """

    statement: str
    vector: str
    rows: str
    terms: str
    streamed: tuple[Access, ...]


def triangular(schedule: Schedule, nest: Tree, request: Request) -> Schedule | None:
    """Register tiles for an accumulation over a triangle, operands transposed where needed.

    for i: for j <= i: for k: C[i, j] += A[i, k] * A[j, k]
    ->  for kt: pack A; parallel it: for jt: for k: 8 x 24 block of C in registers
    """
    facts = request.facts(schedule.scop)
    names = statements(nest)
    if len(names) != 1 or not isinstance(nest, Loop):
        return None
    found = recognise(schedule, names[0], chain(nest), facts)
    if found is None or facts.statements[names[0]].instances < WORTHWHILE:
        return None
    for order in ((found.vector, found.rows), (found.rows, found.vector)):
        try:
            return _Plan(schedule, found, facts, request).apply(order)
        except TransformationError:
            continue
    return None


def recognise(
    schedule: Schedule, name: str, around: Sequence[Loop], facts: Facts
) -> TriangularContraction | None:
    """The contraction that a statement is in the loops around it, if its domain is no box."""
    accumulation = schedule.dependences.accumulations.get(name)
    statement = facts.statements[name]
    if (
        accumulation is None
        or len(around) != 3
        or not _is_permutation(statement, around)
        or fix_parameters(statement.statement.domain, facts.sizes).is_box()
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
            return TriangularContraction(name, vector.name, rows.name, terms[0].name, streamed)
    return None


def _is_permutation(statement: StatementFacts, around: Sequence[Loop]) -> bool:
    """Whether the loops are those around the statement as written, in some order."""
    slopes = [statement.slopes(loop) for loop in around]
    return all(sorted(row) == [0, 0, 1] for row in (*slopes, *zip(*slopes, strict=True)))


class _Plan(Steps):
    """The steps that lead to register tiles."""

    def __init__(
        self,
        schedule: Schedule,
        found: TriangularContraction,
        facts: Facts,
        request: Request,
    ) -> None:
        super().__init__(schedule, found.statement)
        self.found = found
        self.facts = facts
        self.threads = request.threads
        self.lanes = schedule.target.lanes(found.streamed[0].array.element_type)
        registers = schedule.target.vector_registers
        self.vectors = max(1, min(3, (registers - 2) // (ROWS + len(found.streamed))))

    def apply(self, order: tuple[str, str]) -> Schedule:
        """The schedule with loops outside of the block in this order."""
        found = self.found
        self.interchange((*order, found.terms))
        strided = [access for access in found.streamed if not self._is_row(access)]
        outside = self._packed(order, strided) if strided else ()
        sizes = {found.rows: ROWS, found.vector: self.vectors * self.lanes}
        tiles = self.make_tiles(order, tuple(sizes[loop] for loop in order))
        self.interchange((found.terms, found.rows, found.vector))
        self.step(Unroll((self.name(found.rows), self.name(found.vector))))
        self.step(Vectorize((self.name(found.vector),), self.lanes))
        if self.threads > 1 and not self._parallel(tiles) and not outside:
            raise TransformationError("no loop over tiles can run in parallel")
        return self.schedule

    def _is_row(self, access: Access) -> bool:
        """Whether the vector loop goes along a row of an operand."""
        statement = self.facts.statements[self.found.statement]
        loops = chain(self.schedule.loop(self.name(self.found.rows)))
        outer = self.schedule.outer(loops[0])
        vector = next(loop for loop in (*outer, *loops) if loop.name == self.found.vector)
        return statement.stride(access, statement.slopes(vector), self.facts) == 1

    def _packed(self, order: tuple[str, str], strided: Sequence[Access]) -> tuple[str, ...]:
        """Transposes the operands for some terms of the sum at a time."""
        tiles = self.make_tiles((self.found.terms,), (DEPTH,))
        self.interchange((*tiles, *order, self.found.terms))
        for name in dict.fromkeys(access.array.name for access in strided):
            self.step(Pack((self.name(tiles[0]),), name, (1, 0)))
            copy = f"pack_{name}"
            rows, columns = f"{copy}.{name}0", f"{copy}.{name}1"
            step = Tile((rows,), (self.lanes,))
            (blocks,) = step.new_loops(self.schedule)
            self.step(step)
            self.step(Interchange((columns, rows)))
            self.step(Vectorize((rows,), self.lanes))
            if self.threads > 1:
                self.step(Parallel((f"{copy}.{blocks}",)))
        return tiles

    def _parallel(self, tiles: Sequence[str]) -> bool:
        for tile in tiles:
            try:
                self.step(Parallel((self.name(tile),)))
            except TransformationError:
                continue
            return True
        return False
