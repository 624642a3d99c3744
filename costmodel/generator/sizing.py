"""Problem sizes of a random program, for a target run time and memory footprint."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random

from . import distribution
from .program_parts import Dimension, Loop, ProgramCosts

LEAST_EXTENT = 4
LARGEST_SCALE = 1e8


def estimate_seconds(statistics: ProgramCosts, sizes: Mapping[str, int]) -> float:
    """About how long an unscheduled run takes."""
    total = 0.0
    for work in statistics.work:
        total += work.nanoseconds * math.prod(_trips(loop, sizes) for loop in work.loops)
    repetitions = sizes[statistics.time_loop.name] if statistics.time_loop else 1
    return total * repetitions * 1e-9


def footprint(statistics: ProgramCosts, sizes: Mapping[str, int], element_bytes: int) -> int:
    """Bytes of all arrays."""
    elements = (
        math.prod(_extent(dimension, sizes) for dimension in array.dimensions)
        for array in statistics.arrays
    )
    return element_bytes * sum(elements)


def choose_sizes(
    random: Random,
    symbols: Sequence[Dimension],
    statistics: ProgramCosts,
    element_bytes: int,
    between: tuple[float, float],
) -> dict[str, int]:
    """A value for every symbolic size; a run takes a time `between` two, by the estimate."""
    low, high = between
    seconds = math.exp(random.uniform(math.log(low), math.log(high)))
    sizes: dict[str, int] = {}
    if statistics.time_loop is not None:
        sizes[statistics.time_loop.name] = random.choice(distribution.TIME_STEPS)
    proportions = {
        symbol.name: math.exp(random.gauss(0.0, 0.5))
        for symbol in symbols
        if symbol is not statistics.time_loop
    }
    snaps = {name: random.random() < distribution.SNAPPED_SIZES for name in proportions}

    def scaled(scale: float) -> dict[str, int]:
        extents = {
            name: max(LEAST_EXTENT, round(scale * proportion))
            for name, proportion in proportions.items()
        }
        return {**sizes, **extents}

    lowest, highest = 1.0, LARGEST_SCALE
    for _ in range(40):
        middle = math.sqrt(lowest * highest)
        tried = scaled(middle)
        fits = footprint(statistics, tried, element_bytes) <= distribution.MOST_BYTES
        if fits and estimate_seconds(statistics, tried) <= seconds:
            lowest = middle
        else:
            highest = middle
    chosen = scaled(lowest)
    return {name: _snap(random, size) if snaps.get(name) else size for name, size in chosen.items()}


def _snap(random: Random, size: int) -> int:
    """A nearby multiple of a power of two, seldom the power of two itself."""
    power = 1 << (size.bit_length() - 1)
    step = power if random.random() < 0.3 else max(1, power >> random.randint(1, 4))
    return max(LEAST_EXTENT, round(size / step) * step)


def _extent(dimension: Dimension, sizes: Mapping[str, int]) -> int:
    return sizes[dimension.name] if dimension.constant is None else dimension.constant


def _trips(loop: Loop, sizes: Mapping[str, int]) -> float:
    if loop.trips is not None:
        return loop.trips
    return max(1.0, loop.share * (_extent(loop.dimension, sizes) - 2 * loop.halo))
