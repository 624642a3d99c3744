"""Sizes, loops and arrays of a random program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Interval(NamedTuple):
    """Lower and upper bound of a value, whatever the program's inputs."""

    low: float
    high: float

    @property
    def magnitude(self) -> float:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))

    def hull(self, other: Interval) -> Interval:
        """The smallest interval around both."""
        return Interval(min(self.low, other.low), max(self.high, other.high))

    def scaled(self, factor: float) -> Interval:
        """The interval of the product with a constant."""
        bounds = (self.low * factor, self.high * factor)
        return Interval(min(bounds), max(bounds))


UNIT = Interval(0.0, 1.0)
"""The inputs of a program."""

SYMMETRIC = Interval(-1.0, 1.0)


@dataclass(frozen=True)
class Dimension:
    """The extent of a loop and an array dimension: a named size, or a small constant."""

    name: str
    constant: int | None = None


@dataclass(frozen=True)
class Loop:
    """A loop over a dimension, without `halo` values at both ends.

    `share` is its average trip count as a part of the dimension's extent; `trips` is that number
    where it does not depend on the extent.
    """

    name: str
    dimension: Dimension
    halo: int = 0
    share: float = 1.0
    trips: int | None = None


@dataclass(eq=False)
class ArraySpec:
    """A memref argument with one subscript per dimension."""

    name: str
    dimensions: tuple[Dimension, ...]
    interval: Interval = UNIT
    is_written: bool = False


@dataclass(frozen=True)
class Work:
    """Cost of one statement: nanoseconds per instance, and the loops around it."""

    loops: tuple[Loop, ...]
    nanoseconds: float


@dataclass
class ProgramCosts:
    """Statement costs and arrays of a program, from which sizes are chosen."""

    work: list[Work] = field(default_factory=list[Work])
    arrays: list[ArraySpec] = field(default_factory=list[ArraySpec])
    time_loop: Dimension | None = None
