"""Remainder of the vector loop: iterations in whole vectors and left over."""

from __future__ import annotations

from math import ceil, floor
from typing import NamedTuple

from .loop_context import LoopContext

_BLOCK = 4
"""Vectors that LLVM takes at once, in a loop that it vectorises."""


class TripCounts(NamedTuple):
    """Trip counts of the marked loop, or of the innermost one if LLVM may vectorise it.

    `least` and `most` iterations that it has at a time, as in a triangle; the shares of all its
    iterations that run in `whole` vectors, and in `blocks` of four of them; how often the rest is a
    part of a vector, per iteration.
    """

    least: float
    most: float
    whole: float
    blocks: float
    rests: float


def trip_counts(place: LoopContext) -> TripCounts:
    """The section `TripCounts`; between the extremes, all numbers of iterations are as frequent."""
    position = place.innermost if place.vector is None else place.vector
    if position is None:
        return TripCounts(1.0, 1.0, 0.0, 0.0, 1.0)
    least, most = _extremes(place, position)
    width = place.loops[position].vector or place.profile.lanes
    iterations = _sum_of_quotients(least, most, 1)
    whole = width * _sum_of_quotients(least, most, width) / iterations
    blocks = _BLOCK * width * _sum_of_quotients(least, most, _BLOCK * width) / iterations
    divides = least == most and most % width == 0
    rests = 0.0 if divides else (most - least + 1) / iterations
    return TripCounts(least, most, whole, blocks, rests)


def _extremes(place: LoopContext, position: int) -> tuple[int, int]:
    """The least and the largest number of iterations at a time, at least 1."""
    average, form = place.values[position], place.forms[position]
    largest = average
    if form.skewed:
        largest = 2.0 * average - 1.0
    elif place.tiles[position] is None and len(form.terms) == 1:
        ((d, slope),) = form.terms
        if any(d in link for link in place.profile.links):
            box = place.profile.high[d] - place.profile.low[d] + 1.0
            largest = min(max(average, box * slope), 2.0 * average)
    most = max(1, ceil(largest - 1e-6))
    return max(1, min(most, floor(2.0 * average - largest + 1e-6))), most


def _sum_of_quotients(least: int, most: int, divisor: int) -> int:
    """The sum of `n // divisor` for all n from least to most."""
    if least == most:
        return most // divisor
    return _triangle(most, divisor) - _triangle(least - 1, divisor)


def _triangle(last: int, divisor: int) -> int:
    whole, rest = divmod(last, divisor)
    return divisor * whole * (whole - 1) // 2 + whole * (rest + 1)
