"""Features of the second innermost loop: register reuse across its iterations.

LLVM unrolls an innermost loop of a few vectors and a constant trip count; what is invariant along
the loop around it stays in registers there, as in a register tile.
"""

from __future__ import annotations

from typing import NamedTuple

from .loop_context import LoopContext


class Outer(NamedTuple):
    """The innermost surrounding loop that is not fully unrolled.

    `trips` are its iterations, `load_same` and `store_same` the accesses that do not move with it,
    `carries` says that it hands results to its next iteration. `constant` says of the innermost
    loop that it has the same number of iterations every time; `vectors` is how many these make.
    """

    exists: float
    trips: float
    is_tile_loop: float
    load_same: float
    store_same: float
    carries: float
    constant: float
    vectors: float


def outer(place: LoopContext) -> Outer:
    """The section `Outer`."""
    inner = place.innermost
    if inner is None:
        return Outer(0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0)
    lanes = 1 if place.loops[inner].vector else place.profile.lanes
    constant = place.is_constant(inner)
    vectors = place.trips[inner] / lanes
    position = next((n for n in range(inner - 1, -1, -1) if not place.fully_unrolled[n]), None)
    if position is None:
        return Outer(0.0, 1.0, 0.0, 0.0, 0.0, 0.0, constant, vectors)
    load_same = store_same = 0.0
    for access, step in zip(place.profile.accesses, place.steps[position], strict=True):
        if step == 0.0:
            load_same += not access.is_write
            store_same += access.is_write
    return Outer(
        1.0,
        place.trips[position],
        place.forms[position].rounds,
        load_same,
        store_same,
        position in place.carriers,
        constant,
        vectors,
    )
