"""The roofline: time is bounded by operations and by traffic.

Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for multicore
architectures", 2009.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


def roofline(computing: float, transfers: Iterable[float]) -> float:
    """The time of a program that computes and moves data through each level at the same time."""
    return max(computing, *transfers)


@dataclass(frozen=True)
class Ceilings:
    """Peak rates of a machine for a number of threads.

    `peak` is FLOP/s, None of a type of elements for which it is not known (integers);
    `bandwidths` are bytes/s by the level of the memory hierarchy that holds the data.
    """

    peak: float | None
    bandwidths: Mapping[str, float]

    def attainable(self, level: str, intensity: float) -> float:
        """FLOP/s at most with so many FLOP per byte that are moved from and to a level."""
        assert self.peak is not None, "only floating-point types have a peak"
        return min(self.peak, intensity * self.bandwidths[level])

    def least_seconds(self, flops: int, traffic: int, level: str) -> float:
        """Seconds that a program takes at least that moves `traffic` bytes from and to a level."""
        computing = 0.0 if self.peak is None else flops / self.peak
        return roofline(computing, [traffic / self.bandwidths[level]])
