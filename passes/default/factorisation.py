"""The strategy for factorisations: updates of a matrix by its own finished rows and columns.

What isl's scheduler makes of an LU or Cholesky decomposition is one permutable band of three loops
with the updates and the divisions inside. Tiles of the matrix run in wavefronts; inside of a tile,
blocks of the matrix stay in registers while the updates of all earlier columns run over them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..schedule import Schedule
from ..schedule_tree import Loop, Tree, chain, statements
from ..schedule_tree import Sequence as Parts
from ..transformation import Transformation, TransformationError
from ..transformations.distribute import Distribute
from ..transformations.interchange import Interchange
from ..transformations.parallel import Parallel
from ..transformations.tile import Tile
from ..transformations.unroll import Unroll
from ..transformations.vectorize import Vectorize
from ..transformations.wavefront import Wavefront
from .contraction import selects
from .facts import Facts
from .request import Request

WORTHWHILE = 2_000_000
"""Statement instances below which tiles are not worth their edges."""

ROWS, VECTORS = 8, 3
"""The block of the matrix that stays in registers."""

BLOCKS = 8, 3
"""How many blocks a tile has, along rows and along vectors."""


def factorisation(schedule: Schedule, nest: Tree, request: Request) -> Schedule | None:
    """Tiles in wavefronts with register tiles inside, for a band shared by several statements.

    for k: for i: for j: { S: A[i, k] /= A[k, k];  T: A[i, j] -= A[i, k] * A[k, j] }
    ->  for wave: parallel jt: for it2: for jt2: for k: { S;  T on an 8 x 24 block in registers }
    """
    facts = request.facts(schedule.scop)
    names = statements(nest)
    if not isinstance(nest, Loop) or len(names) < 2:
        return None
    band = chain(nest)
    if len(band) != 3 or not isinstance(band[-1].body, Parts):
        return None
    updates = [name for name in names if _is_update(schedule, name, facts)]
    if not updates or sum(facts.statements[name].instances for name in updates) < WORTHWHILE:
        return None
    order = _order(schedule, updates, band, facts)
    if order is None:
        return None
    try:
        return _tiled(schedule, updates, [loop.name for loop in order], request.threads)
    except TransformationError:
        return None


def _is_update(schedule: Schedule, name: str, facts: Facts) -> bool:
    """Whether a statement has three loops, and accumulates products."""
    statement = facts.statements[name].statement
    return name in schedule.dependences.accumulations and len(statement.loops) == 3


def _order(
    schedule: Schedule, updates: Sequence[str], band: Sequence[Loop], facts: Facts
) -> tuple[Loop, Loop, Loop] | None:
    """Of the loops of a band, those over rows, along rows, and over terms, for all updates."""
    found: tuple[Loop, Loop, Loop] | None = None
    for name in updates:
        statement = facts.statements[name]
        result = schedule.dependences.accumulations[name].store
        free = [loop for loop in band if selects(statement, loop, result)]
        terms = [loop for loop in band if not any(loop is other for other in free)]
        along = [x for x in free if statement.stride(result, statement.slopes(x), facts) == 1]
        if len(free) != 2 or len(along) != 1:
            return None
        (rows,) = (loop for loop in free if loop is not along[0])
        own = rows, along[0], terms[0]
        if found is not None and any(a is not b for a, b in zip(found, own, strict=True)):
            return None
        found = own
    return found


def _tiled(
    schedule: Schedule, updates: Sequence[str], order: Sequence[str], threads: int
) -> Schedule:
    rows, vector, terms = (f"{updates[0]}.{name}" for name in order)
    result = schedule.dependences.accumulations[updates[0]].store
    lanes = schedule.target.lanes(result.array.element_type)
    block = ROWS, VECTORS * lanes
    schedule = _interchanged(schedule, (rows, vector, terms))
    sizes = tuple(size * count for size, count in zip(block, BLOCKS, strict=True))
    step = Tile((rows, vector), sizes)
    row_tiles, vector_tiles = (f"{updates[0]}.{name}" for name in step.new_loops(schedule))
    schedule = schedule.apply(step)
    if threads > 1:
        schedule = schedule.apply(Wavefront((row_tiles, vector_tiles), (1, 1)))
        schedule = schedule.apply(Parallel((vector_tiles,)))
    schedule = schedule.apply(Tile((rows, vector), block))
    schedule = _interchanged(schedule, (terms, rows, vector))
    for loop in (vector, rows):
        schedule = schedule.apply(Distribute((loop,)))
    for name in updates:
        own_rows, own_vector = f"{name}.{order[0]}", f"{name}.{order[1]}"
        steps: list[Transformation] = [
            Unroll((own_rows, own_vector)),
            Vectorize((own_vector,), lanes),
        ]
        schedule = schedule.apply_all(steps)
    return schedule


def _interchanged(schedule: Schedule, names: Sequence[str]) -> Schedule:
    now = [loop.name for loop in schedule.chain(tuple(names))]
    if now == [name.rpartition(".")[2] for name in names]:
        return schedule
    return schedule.apply(Interchange(tuple(names)))
