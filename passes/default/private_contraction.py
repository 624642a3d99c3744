"""The strategy for contractions into an array that every iteration of the loops around overwrites.

A temporary row that is an argument of the function orders all iterations. With a copy for each
iteration, of which only the last one is written back, they are independent, and together they make
a product of matrices.
"""

from __future__ import annotations

from math import ceil, prod

from ..schedule import Schedule
from ..schedule_tree import Loop, Sequence, Tree, chain, statements
from ..transformation import Transformation, TransformationError
from ..transformations.distribute import Distribute
from ..transformations.pack import Pack
from ..transformations.parallel import Parallel
from ..transformations.tile import Tile
from ..transformations.vectorize import Vectorize
from .contraction import PARALLEL_CYCLES, ContractionPlan, recognise, selects
from .estimate import loops_around
from .facts import bytes_of
from .request import Request

COPIES_OF_L2 = 0.25
"""The part of the second-level cache that the copies of some iterations may fill."""


def private_contraction(schedule: Schedule, nest: Tree, request: Request) -> Schedule | None:
    """A row for each iteration, blocks of iterations, and the product in register tiles.

    for r: for q: (for p: x[p] = 0; for s: x[p] += A[r, q, s] * B[s, p]; for p: use x[p])
    ->  parallel r: for qt: (for q: for p: y[q, p] = 0; y += A * B; for q: for p: use y[q, p])
    """
    if not isinstance(nest, Loop):
        return None
    shared = chain(nest)
    sums = [name for name in statements(nest) if name in schedule.dependences.accumulations]
    if not isinstance(shared[-1].body, Sequence) or len(sums) != 1 or len(shared) < 2:
        return None
    array = schedule.dependences.accumulations[sums[0]].store.array
    outer = Parallel((f"{sums[0]}.{shared[0].name}",))
    if array.is_local or schedule.legal(outer):
        return None
    try:
        return _apply(schedule, shared, sums[0], array.name, outer, request)
    except TransformationError:
        return None


def _apply(
    schedule: Schedule,
    shared: tuple[Loop, ...],
    name: str,
    array: str,
    outer: Transformation,
    request: Request,
) -> Schedule | None:
    rows = f"{name}.{shared[-1].name}"
    others = [other for other in statements(shared[0]) if other != name]
    schedule = schedule.apply(Pack((rows,), array))
    statement = request.facts(schedule.scop).statements[name]
    around = loops_around(schedule.tree, name)
    trips = statement.trips(around)
    (store,) = statement.statement.writes
    row = bytes_of(store.array.element_type) * prod(
        count
        for loop, count in list(zip(around, trips, strict=True))[len(shared) :]
        if selects(statement, loop, store)
    )
    most = int(schedule.target.caches[2] * COPIES_OF_L2 / row)
    if trips[len(shared) - 1] > most:
        parts = ceil(trips[len(shared) - 1] / max(1, most))
        schedule = schedule.apply(Tile((rows,), (ceil(trips[len(shared) - 1] / parts),)))
    schedule = schedule.apply(Distribute((rows,)))
    own = chain(schedule.loop(rows))
    if isinstance(own[-1].body, Sequence):
        schedule = schedule.apply(Distribute(tuple(f"{name}.{loop.name}" for loop in own)))
        own = chain(schedule.loop(rows))
    around = loops_around(schedule.tree, name)
    facts = request.facts(schedule.scop)
    found = recognise(schedule, name, around, facts, fixed=len(around) - len(own))
    if found is None:
        return None
    alone = Request(request.sizes, 1)
    planned = ContractionPlan(schedule, found, facts, alone).apply()
    if planned is None:
        return None
    for other in others:
        innermost = Vectorize((f"{other}.{loops_around(planned.tree, other)[-1].name}",))
        planned = planned.apply(innermost) if planned.legal(innermost) else planned
    is_long = prod(found.extents.values()) / planned.target.vector_bits >= PARALLEL_CYCLES / 16
    return planned.apply(outer) if request.threads > 1 and is_long else planned
