"""How often unrolled loops repeat the code inside of them."""

from __future__ import annotations

from .nest import For, Nest, TileSplit, children


def unrolled_copies(nest: Nest) -> int:
    """Copies of the innermost code that the unrolled loops of a nest ask for together.

    Loops side by side do not add up, and partial tiles are not unrolled. A loop that is unrolled
    fully counts where its number of iterations is constant.
    """
    if isinstance(nest, TileSplit):
        return unrolled_copies(nest.full)
    inside = max((unrolled_copies(child) for child in children(nest)), default=1)
    if not isinstance(nest, For) or nest.loop.unroll is None:
        return inside
    width = nest.loop.vector or 1
    copies = nest.loop.unroll or -(-(nest.trip_count or 1) // width)
    return max(1, copies) * inside
