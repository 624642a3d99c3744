"""How many values iterators take, for domains of statements at given sizes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import islpy as isl

from ...passes.polyhedral.counting import UncountableError, cardinality, fix_parameters

_UNKNOWN = 1000.0
"""For a number of values without a bound."""


class Extent(NamedTuple):
    """Per iterator: how many values it takes on average for given outer ones; extreme values.

    `links` are the pairs of iterators of which one bounds the other, as in a triangle.
    """

    spans: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    links: frozenset[tuple[int, int]] = frozenset()


class Domains:
    """Asks isl about each domain once. Programs that schedules change share domains."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._sizes = sizes
        self._known: dict[str, Extent] = {}

    def of(self, domain: isl.Set, *, exact: bool = True) -> Extent:
        """The extent of a domain; where it need not be exact, in a fraction of the time."""
        text = str(domain)
        if text not in self._known:
            self._known[text] = _measure(domain, self._sizes, exact=exact)
        return self._known[text]


def _measure(domain: isl.Set, sizes: Mapping[str, int], *, exact: bool) -> Extent:
    points = fix_parameters(domain, sizes)
    points = points.project_out(isl.dim_type.param, 0, points.dim(isl.dim_type.param))
    depth = points.dim(isl.dim_type.set)
    if points.is_empty():
        return Extent((0.0,) * depth, (0.0,) * depth, (0.0,) * depth)
    ranges = [_range(points, position) for position in range(depth)]
    low, high = tuple(low for low, _ in ranges), tuple(high for _, high in ranges)
    if not exact:
        return Extent(_conditional(points), low, high, _links(points))
    try:
        counts = [
            float(cardinality(points.project_out(isl.dim_type.set, inner, depth - inner)))
            for inner in range(depth + 1)
        ]
        spans = tuple(inner / outer for outer, inner in pairwise(counts))
    except UncountableError:
        spans = _conditional(points)
    return Extent(spans, low, high, _links(points))


def _links(points: isl.Set) -> frozenset[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    constraints: list[isl.Constraint] = []
    points.foreach_basic_set(lambda part: part.foreach_constraint(constraints.append))
    depth = points.dim(isl.dim_type.set)
    for constraint in constraints:
        involved = [d for d in range(depth) if constraint.involves_dims(isl.dim_type.set, d, 1)]
        found.update((one, other) for one in involved for other in involved if one != other)
    return frozenset(found)


def _conditional(points: isl.Set) -> tuple[float, ...]:
    """How many values each iterator takes when those outside of it have values in the middle."""
    spans: list[float] = []
    for position in range(points.dim(isl.dim_type.set)):
        low, high = _range(points, position)
        spans.append(high - low + 1.0)
        middle = points.fix_val(isl.dim_type.set, position, isl.Val(str(int((low + high) // 2))))
        if middle.is_empty():
            value = points.sample_point().get_coordinate_val(isl.dim_type.set, position)
            middle = points.fix_val(isl.dim_type.set, position, value)
        points = middle
    return tuple(spans)


def _range(points: isl.Set, position: int) -> tuple[float, float]:
    low, high = points.dim_min_val(position), points.dim_max_val(position)
    least = float(low.to_python()) if low.is_int() else 0.0
    return least, float(high.to_python()) if high.is_int() else least + _UNKNOWN
