"""Timing: warm-up, repetitions until the median is steady, spread."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from ...support.markup import notebook, table
from ...support.summaries import summary

MINIMUM_REPETITIONS = 5
MAXIMUM_REPETITIONS = 10_000
MINIMUM_SECONDS = 0.05
STEADY = 0.01


@dataclass(frozen=True)
class Timing:
    """Seconds of every repetition, in order, with the measuring conditions.

    `pinned`: every thread was bound to a CPU of its own. `cold`: the caches were emptied before
    each repetition. `steady`: the repetitions ended because the median was known well enough, not
    because the budget was spent.
    """

    seconds: tuple[float, ...]
    threads: int
    pinned: bool
    cold: bool
    steady: bool

    @property
    def repetitions(self) -> int:
        """The number of measured calls."""
        return len(self.seconds)

    @property
    def median(self) -> float:
        """The median, in seconds."""
        return quantile(sorted(self.seconds), 0.5)

    @property
    def min(self) -> float:
        """The shortest repetition, in seconds."""
        return min(self.seconds)

    @property
    def spread(self) -> float:
        """The distance of the quartiles as a share of the median; 0 for a single repetition."""
        ordered = sorted(self.seconds)
        return (quantile(ordered, 0.75) - quantile(ordered, 0.25)) / quantile(ordered, 0.5)

    def __str__(self) -> str:
        conditions = [
            f"{self.repetitions} repetitions",
            f"{self.threads} thread{'s' if self.threads > 1 else ''}",
            "pinned" if self.pinned else "not pinned",
        ]
        conditions += ["cold caches"] if self.cold else []
        conditions += [] if self.steady else ["not steady"]
        return (
            f"median {format_seconds(self.median)}, min {format_seconds(self.min)}, "
            f"spread {self.spread:.1%} ({', '.join(conditions)})"
        )

    def __repr__(self) -> str:
        return summary(self, str(self))

    def _repr_html_(self) -> str:
        """A table, for notebooks."""
        ordered = sorted(self.seconds)
        quartiles = (format_seconds(quantile(ordered, share)) for share in (0.25, 0.75))
        rows = [
            ["median", "quartiles", "least", "spread", "runs", "threads"],
            [
                format_seconds(self.median),
                " to ".join(quartiles),
                format_seconds(self.min),
                f"{self.spread:.1%}{'' if self.steady else ' (not steady)'}",
                str(self.repetitions),
                f"{self.threads} {'pinned' if self.pinned else 'not pinned'}",
            ],
        ]
        return notebook(f"Times{' with cold caches' if self.cold else ''}", table(rows))


def quantile(ordered: list[float], share: float) -> float:
    """The `share` quantile of sorted values, interpolated linearly."""
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = math.ceil(position)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def format_seconds(seconds: float) -> str:
    """Three digits and a unit: `0.01234` -> `12.3 ms`."""
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}" if seconds < 1000 * scale else f"{seconds:.0f} s"
    return f"{seconds * 1e9:.3g} ns"


def is_steady(seconds: list[float]) -> bool:
    """Whether the median is known to a percent.

    The 95 % confidence interval of a median lies between the order statistics of rank
    `n / 2 -+ 0.98 sqrt(n)`, whatever the distribution.
    """
    count = len(seconds)
    if count < MINIMUM_REPETITIONS:
        return False
    ordered = sorted(seconds)
    reach = 0.98 * math.sqrt(count)
    low = ordered[max(0, math.floor(count / 2 - reach))]
    high = ordered[min(count - 1, math.ceil(count / 2 + reach))]
    return high - low <= STEADY * quantile(ordered, 0.5)


def repeat(
    call: Callable[[], object],
    prepare: Callable[[], object] | None,
    budget: float,
) -> tuple[tuple[float, ...], bool]:
    """Measures `call` again and again; `prepare` runs before each call and is not measured.

    A first call warms up. Ends when the median is steady, or when `budget` seconds are spent, but
    not before one call was measured. Returns the seconds of each call, and whether the median was
    steady.
    """
    clock = time.perf_counter
    seconds: list[float] = []
    begin = clock()
    enough, end = begin + min(MINIMUM_SECONDS, budget), begin + budget
    next_check = MINIMUM_REPETITIONS
    for repetition in range(-1, MAXIMUM_REPETITIONS):
        if prepare is not None:
            prepare()
        start = clock()
        call()
        stop = clock()
        if repetition < 0:
            continue
        seconds.append(stop - start)
        if len(seconds) >= next_check and stop > enough:
            if is_steady(seconds):
                return tuple(seconds), True
            next_check = len(seconds) + 1 + len(seconds) // 4
        if stop > end:
            break
    return tuple(seconds), is_steady(seconds)
