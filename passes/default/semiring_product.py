"""Register tiles for products over any semiring: (+, *), (min, +), (max, *), (or, and) ..."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from xdsl.ir import Operation

from ..estimate.register_tile import ADDRESSING, RegisterTile
from ..polyhedral.scop import Access, Statement
from ..schedules.schedule import Schedule
from ..transformations.interchange import Interchange
from ..transformations.pack import read_number
from ..transformations.tile import Tile
from ..transformations.unroll import Unroll
from ..transformations.vectorize import Vectorize
from .steps import Steps

TALLEST, WIDEST = 8, 4
"""Rows of a block in registers, and vectors side by side, at most."""


@dataclass(frozen=True)
class ProductLoops:
    """The loops around a product `C[i, j] = C[i, j] op f(A[i, k], B[k, j])`, by name.

    Neighbouring iterations of `vector` are neighbouring elements of the result, `rows` selects its
    rows and `terms` is the loop over what is accumulated.
    """

    statement: str
    rows: str
    vector: str
    terms: str

    def name(self, loop: str) -> str:
        """A loop around the statement, so that it is found when others have the same name."""
        return f"{self.statement}.{loop}"


def product_tile(statement: Statement, registers: int) -> RegisterTile:
    """The block with the fewest loads for each term, while accumulators and operands fit.

    A term that is no fused multiplication and addition needs a register for itself.
    """
    temporaries = max(0, sum(map(_computes, statement.body)) - 1)
    return min(
        (
            RegisterTile(rows, vectors)
            for rows, vectors in product(range(1, TALLEST + 1), range(1, WIDEST + 1))
            if rows * vectors + vectors + min(1, temporaries) + ADDRESSING - 1 <= registers
        ),
        key=lambda tile: (1 / tile.rows + 1 / tile.vectors, -tile.rows * tile.vectors),
    )


def in_panels(
    schedule: Schedule,
    loops: ProductLoops,
    reads: Sequence[Access],
    tile: RegisterTile,
    lanes: int,
    depth: int,
) -> Schedule:
    """Strips of `depth` terms, for which what is read along vectors is packed into panels.

    Raises TransformationError.
    """
    steps = Steps(schedule, loops.statement)
    (strips,) = steps.make_tiles((loops.terms,), (depth,))
    steps.interchange((strips, loops.rows, loops.vector, loops.terms))
    for read in reads:
        statement = steps.schedule.scop.statement(loops.statement)
        number = f"{loops.statement}.{read_number(statement, read)}"
        cut = len(read.map.results) - 1
        steps.pack_panels(strips, read.array, cut, tile.vectors * lanes, reads=(number,))
    return steps.schedule


def _computes(operation: Operation) -> bool:
    return operation.name.startswith(("arith.", "math.")) and "constant" not in operation.name


def in_register_tiles(
    schedule: Schedule, loops: ProductLoops, tile: RegisterTile, lanes: int
) -> Schedule:
    """The three loops of a product in register tiles, all terms in each; TransformationError."""
    rows, vector, terms = map(loops.name, (loops.rows, loops.vector, loops.terms))
    step = Tile((rows, vector), (tile.rows, tile.vectors * lanes))
    now = [loop.name for loop in schedule.chain((rows, vector, terms))]
    if now[:2] != [loops.rows, loops.vector]:
        schedule = schedule.apply(Interchange((rows, vector, terms)))
    blocks = tuple(map(loops.name, step.new_loops(schedule)))
    schedule = schedule.apply(step)
    return schedule.apply_all(
        [
            Interchange((*blocks, terms, rows, vector)),
            Unroll((rows, vector)),
            Vectorize((vector,), lanes),
        ]
    )
