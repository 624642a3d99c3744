"""Register tiles that bounds cut, as on the diagonal of a triangle: as long as full ones.

for i in tile: for j in tile, j < i: S        runs as        for i in tile: for j in tile: S
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import prod

import islpy as isl

from ..polyhedral.counting import UncountableError, cardinality
from ..polyhedral.limited_iterators import bounded_sides
from ..polyhedral.schedule_tree import Loop
from .program_statistics import StatementStatistics

MOST_TILES = 10_000
"""So many are counted one by one; of more, most are full."""

SCALAR, VECTOR = 15.0, 5.0
"""Cycles of a scalar instance, and of a vector, in a tile that is cut (measured on a Zen 4)."""

CUT_STEP = 9.0
"""Cycles of an iteration of a sum's loop in which some copies of the rows around it have no term:
a loop over the others, whose trip count differs (measured on a Granite Rapids: 8 to 10)."""


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


def partial_cycles(statement: StatementStatistics, loops: Sequence[Loop], utilised: float) -> float:
    """Cycles that the instances in cut tiles take longer than those in full ones.

    Where a loop inside of the tiles accumulates, whose sums full tiles keep in registers: in others
    they are loaded and stored each time. `utilised` is the utilisation of the tiles.
    """
    copies = [loop for loop in loops if loop.within is not None and loop.unroll == 0]
    if not copies or not statement.limits:
        return 0.0
    iterators = {k for loop in copies if (k := statement.iterator_of(loop)) is not None}
    bound = {k for each in iterators for k in statement.limits.get(each, frozenset())} | {
        k for k, others in statement.limits.items() if others & iterators
    }
    if not bound:
        return 0.0
    first = min(map(loops.index, copies))
    sums = [
        statement.iterator_of(loop)
        for loop in loops[:first]
        if loop.within is None and statement.rewrites(loops, loop)
    ]
    if not any(each not in bound for each in sums):
        lanes = {statement.iterator_of(loop): loop.vector for loop in loops if loop.vector}
        return CUT_STEP * sum(
            _cut_steps(statement, copies, each, lanes) for each in sums if each is not None
        )
    is_vector = any(loop.vector is not None for loop in loops)
    if len(iterators) > 1:
        missing = statement.instances * (1 / utilised - 1)
        lanes = next((loop.vector for loop in loops if loop.vector is not None), 1)
        return missing / lanes * VECTOR if is_vector else missing * SCALAR
    others = prod(
        statement.spans[k] for k in range(len(statement.spans)) if k not in bound | iterators
    )
    cut = max(statement.spans[k] for k in bound | iterators)
    size = max(loop.within.size for loop in copies if loop.within is not None)
    return cut * (size - 1) / 2 * others * (VECTOR if is_vector else SCALAR)


def _cut_steps(
    statement: StatementStatistics,
    copies: Sequence[Loop],
    terms: int,
    lanes: Mapping[int | None, int],
) -> float:
    """Iterations of the loop over the terms of sums, for all tiles, that not all copies have.

    For each vector of columns beside each other, where their iterators have `lanes`.
    """
    steps = 0.0
    for loop in copies:
        rows = statement.iterator_of(loop)
        if rows is not None and loop.within is not None and rows in statement.limits.get(terms, ()):
            others = {k: s for k, s in enumerate(statement.spans) if k not in {rows, terms}}
            around = prod(span / lanes.get(k, 1) for k, span in others.items())
            tiles = statement.spans[rows] / loop.within.size
            ends = bounded_sides(statement.points, terms, rows)
            steps += tiles * around * ends * (loop.within.size - 1)
    return steps


def _unbound(points: isl.Set) -> isl.Set:
    return points.project_out(isl.dim_type.param, 0, points.dim(isl.dim_type.param))
