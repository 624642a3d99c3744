"""Register tiles that bounds cut, as on the diagonal of a triangle: as long as full ones.

for i in tile: for j in tile, j < i: S        runs as        for i in tile: for j in tile: S
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod

import islpy as isl

from ..polyhedral.counting import UncountableError, cardinality
from ..polyhedral.schedule_tree import Loop
from .program_statistics import StatementStatistics

MOST_TILES = 10_000
"""So many are counted one by one; of more, most are full."""


def utilisation(statement: StatementStatistics, loops: Sequence[Loop]) -> float:
    """The share of the iterations of the register tiles around a statement that are instances.

    Those that the bounds of rectangles cut have code of their own, and count as full.
    """
    places = {each.name: each.schedule[statement.statement.name] for each in loops}
    known = [
        (position, loop.within.size, places[loop.within.tile])
        for loop in loops
        if loop.within is not None and (loop.unroll == 0 or loop.vector is not None)
        if (position := statement.iterator_of(loop)) is not None and loop.within.tile in places
    ]
    iterators = {position for position, _, _ in known}
    if not any(statement.limits.get(k, frozenset()) & iterators for k in iterators):
        return 1.0
    sizes = prod(size for _, size, _ in known)
    if prod(statement.spans[k] for k in iterators) > MOST_TILES * sizes:
        return 1.0
    points = statement.points
    functions = [isl.Map.from_aff(function).intersect_domain(points) for *_, function in known]
    visited = reduce(isl.Map.flat_range_product, functions).range()
    others = (k for k in reversed(range(points.dim(isl.dim_type.set))) if k not in iterators)
    points = reduce(lambda rest, k: rest.project_out(isl.dim_type.set, k, 1), others, points)
    try:
        tiles = _unbound(visited).count_val().to_python()
        return min(1.0, cardinality(_unbound(points)) / (tiles * sizes))
    except UncountableError:
        return 1.0


def _unbound(points: isl.Set) -> isl.Set:
    return points.project_out(isl.dim_type.param, 0, points.dim(isl.dim_type.param))
