"""The strategy for contractions into an array that every iteration of the loops around overwrites.

A temporary row that is an argument of the function orders all iterations. With a copy for each
iteration, of which only the last one is written back, they are independent, and together they make
a product of matrices.
"""

from __future__ import annotations

from math import ceil, prod

from ..schedule import Schedule
from ..schedule_tree import Loop, Sequence, Tree, chain, loops, statements
from ..transformation import TransformationError
from ..transformations.distribute import Distribute
from ..transformations.pack import Pack
from ..transformations.parallel import Parallel
from ..transformations.tile import Tile
from ..transformations.vectorize import Vectorize
from .contraction import PARALLEL_CYCLES, ContractionPlan, recognise, selects
from .estimate import loops_around
from .facts import bytes_of
from .request import Request

COPIES_OF_L2 = 0.0625
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
        return _apply(schedule, shared, sums[0], array.name, request)
    except TransformationError:
        return None


def _apply(
    schedule: Schedule,
    shared: tuple[Loop, ...],
    name: str,
    array: str,
    request: Request,
) -> Schedule | None:
    rows = f"{name}.{shared[-1].name}"
    others = [other for other in statements(shared[0]) if other != name]
    schedule = schedule.apply(Pack((rows,), array))
    schedule, block = _blocks(schedule, f"{name}.{shared[0].name}", name, request)
    statement = request.facts(schedule.scop).statements[name]
    around = loops_around(schedule.tree, name)
    trips = dict(zip((loop.name for loop in around), statement.trips(around), strict=True))
    (store,) = statement.statement.writes
    row = bytes_of(store.array.element_type) * prod(
        trips[loop.name]
        for loop in loops(shared[-1].body)
        if name in loop.schedule and selects(statement, loop, store)
    )
    most = max(1, int(schedule.target.caches[2] * COPIES_OF_L2 / row))
    extent = trips[shared[-1].name]
    if extent > most:
        schedule = schedule.apply(Tile((rows,), (ceil(extent / ceil(extent / most)),)))
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
    is_shared = not any(
        selects(facts.statements[name], loop, found.streamed)
        for loop in around[: len(around) - len(own)]
    )
    panels_at = block if is_shared else None
    planned = ContractionPlan(schedule, found, facts, alone, panels_at).apply()
    if planned is None:
        return None
    for other in others:
        innermost = Vectorize((f"{other}.{loops_around(planned.tree, other)[-1].name}",))
        planned = planned.apply(innermost) if planned.legal(innermost) else planned
    cycles = facts.statements[name].instances / planned.target.vector_bits * 16
    parallel = Parallel((f"{name}.{block}",))
    return planned.apply(parallel) if request.threads > 1 and cycles >= PARALLEL_CYCLES else planned


def _blocks(
    schedule: Schedule, outermost: str, name: str, request: Request
) -> tuple[Schedule, str]:
    """A tile of the outermost loop for each thread, and the name of the loop over these."""
    statement = request.facts(schedule.scop).statements[name]
    (trips, *_) = statement.trips(loops_around(schedule.tree, name))
    step = Tile((outermost,), (ceil(trips / request.threads),))
    (block,) = step.new_loops(schedule)
    return schedule.apply(step), block
