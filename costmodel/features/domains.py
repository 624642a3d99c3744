"""Extents of iteration domains: average and extreme trip counts at given sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import islpy as isl

from ...passes.polyhedral.counting import UncountableError, cardinality, fix_parameters
from ...passes.polyhedral.isl_context import TooComplexError, bounded
from ...support.cached_property import cached_property

_UNKNOWN = 1000.0
"""For a number of values without a bound."""

_OPERATIONS = 1_000_000
"""Of isl, for one number of values."""


class Extent(NamedTuple):
    """Per iterator: its average trip count for given outer iterators, and its extreme values.

    `links` are the pairs of iterators of which one bounds the other, as in a triangle. `orders` are
    the numbers of values for other orders of the loops, where they are known.
    """

    spans: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    links: frozenset[tuple[int, int]] = frozenset()
    orders: Orders | None = None


class Orders:
    """Average trip counts of iterators under permuted loops (triangular domains).

    isl is asked about iterators that bound each other only, and once about each set of them.
    """

    def __init__(
        self, points: isl.Set, spans: Sequence[float], links: frozenset[tuple[int, int]]
    ) -> None:
        self._points = points
        self._spans = tuple(spans)
        self._links = links
        self._known: dict[tuple[int, ...], tuple[float, ...]] = {}
        self._counts: dict[frozenset[int], int | None] = {frozenset(): 1}

    def spans(self, order: tuple[int, ...]) -> tuple[float, ...]:
        """The average number of values of each iterator, for given ones before it in `order`."""
        found = self._known.get(order)
        if found is None:
            result = list(self._spans)
            for place, iterator in enumerate(order):
                result[iterator] = self._span(iterator, frozenset(order[:place]))
            found = self._known[order] = tuple(result)
        return found

    def _span(self, iterator: int, outer: frozenset[int]) -> float:
        linked = self._linked[iterator]
        if outer & linked == linked.intersection(range(iterator)):
            return self._spans[iterator]
        inside, around = self._count(outer & linked | {iterator}), self._count(outer & linked)
        return inside / around if inside and around else self._spans[iterator]

    @cached_property
    def _linked(self) -> tuple[frozenset[int], ...]:
        """Of each iterator, all others that it depends on, directly or through others."""
        groups = [{iterator} for iterator in range(len(self._spans))]
        for one, other in self._links:
            if groups[one] is not groups[other]:
                groups[one] |= groups[other]
                for member in groups[other]:
                    groups[member] = groups[one]
        return tuple(frozenset(group - {n}) for n, group in enumerate(groups))

    def _count(self, iterators: frozenset[int]) -> int | None:
        """How many combinations of values these iterators take; None where isl cannot tell."""
        if iterators not in self._counts:
            points = self._points
            for iterator in reversed(range(len(self._spans))):
                if iterator not in iterators:
                    points = points.project_out(isl.dim_type.set, iterator, 1)
            try:
                with bounded(_OPERATIONS):
                    self._counts[iterators] = cardinality(points)
            except (UncountableError, TooComplexError, isl.Error):
                self._counts[iterators] = None
        return self._counts[iterators]


class Domains:
    """Cache of domain extents; programs that schedules change share domains."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._sizes = sizes
        self._known: dict[tuple[str, bool], Extent] = {}

    def of(self, domain: isl.Set, *, exact: bool = True) -> Extent:
        """The extent of a domain; where it need not be exact, in a fraction of the time."""
        # The same points under the names of two statements are the same.
        text = str(domain.reset_tuple_id() if domain.has_tuple_id() else domain)
        key = text, exact
        if key not in self._known:
            self._known[key] = _measure(domain, self._sizes, exact=exact)
        return self._known[key]


def _measure(domain: isl.Set, sizes: Mapping[str, int], *, exact: bool) -> Extent:
    points = fix_parameters(domain, sizes)
    points = points.project_out(isl.dim_type.param, 0, points.dim(isl.dim_type.param))
    depth = points.dim(isl.dim_type.set)
    if points.is_empty():
        return Extent((0.0,) * depth, (0.0,) * depth, (0.0,) * depth)
    ranges = [_range(points, position) for position in range(depth)]
    low, high = tuple(low for low, _ in ranges), tuple(high for _, high in ranges)
    if points.is_box() and points.is_bounded():
        return Extent(tuple(h - w + 1.0 for w, h in zip(low, high, strict=True)), low, high)
    if not exact:
        return Extent(_conditional(points), low, high, _links(points))
    try:
        counts = [
            float(cardinality(points.project_out(isl.dim_type.set, inner, depth - inner)))
            for inner in range(depth + 1)
        ]
    except UncountableError:
        return Extent(_conditional(points), low, high, _links(points))
    spans = tuple(inner / outer for outer, inner in pairwise(counts))
    links = _links(points)
    return Extent(spans, low, high, links, Orders(points, spans, links))


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
    # isl finds extreme values sooner where no other dimension is left.
    after = points.dim(isl.dim_type.set) - position - 1
    values = points.project_out(isl.dim_type.set, position + 1, after)
    values = values.project_out(isl.dim_type.set, 0, position)
    low, high = values.dim_min_val(0), values.dim_max_val(0)
    least = float(low.to_python()) if low.is_int() else 0.0
    return least, float(high.to_python()) if high.is_int() else least + _UNKNOWN
