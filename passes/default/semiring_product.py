"""Register tiles for products over any semiring: (+, *), (min, +), (max, *), (or, and) ..."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from xdsl.ir import Operation

from ..estimate.register_tile import ADDRESSING, RegisterTile
from ..polyhedral.scop import Access, Statement
from ..schedules.schedule import Schedule
from ..transformations.pack import read_number
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


def product_tile(statement: Statement, registers: int) -> RegisterTile:
    """The block with the fewest loads for each term, while accumulators and operands fit.

    A term that takes several operations has a register for itself, fused or not.
    """
    temporary = sum(map(_computes, statement.body)) > 1
    return min(
        (
            RegisterTile(rows, vectors)
            for rows, vectors in product(range(1, TALLEST + 1), range(1, WIDEST + 1))
            if rows * vectors + vectors + temporary + ADDRESSING - 1 <= registers
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
    steps = Steps(schedule, loops.statement)
    steps.interchange((loops.rows, loops.vector, loops.terms))
    blocks = steps.make_tiles((loops.rows, loops.vector), (tile.rows, tile.vectors * lanes))
    steps.interchange((*blocks, loops.terms, loops.rows, loops.vector))
    steps.step(Unroll((steps.name(loops.rows), steps.name(loops.vector))))
    steps.step(Vectorize((steps.name(loops.vector),), lanes))
    return steps.schedule
