"""Where a generator's random decisions come from: a seed, or Hypothesis (which shrinks them)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Chooser(Protocol):
    """A source of decisions. The first option and the smallest number are the simplest."""

    def integer(self, low: int, high: int) -> int:
        """A number in `low .. high`, both included."""
        ...


@dataclass
class SeededChooser:
    """The same seed makes the same decisions."""

    source: random.Random

    def integer(self, low: int, high: int) -> int:
        """See Chooser."""
        return self.source.randint(low, high)


@dataclass
class DrawnChooser:
    """Decisions drawn by Hypothesis."""

    draw: Any

    def integer(self, low: int, high: int) -> int:
        """See Chooser."""
        return self.draw(st.integers(low, high))


def choose(chooser: Chooser, options: Sequence[T]) -> T:
    """One of the options."""
    return options[chooser.integer(0, len(options) - 1)]


def chance(chooser: Chooser, percent: int) -> bool:
    """True in `percent` of 100 cases."""
    return chooser.integer(0, 99) >= 100 - percent


def distinct(chooser: Chooser, options: Sequence[T], count: int) -> list[T]:
    """`count` different options in random order (fewer when there are not so many)."""
    rest, result = list(options), list[T]()
    while rest and len(result) < count:
        result.append(rest.pop(chooser.integer(0, len(rest) - 1)))
    return result
