"""Magnitudes of indices: intervals that are as much wider as sizes say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Size = tuple[int, int | None]
"""An argument by position: an integer (None), or a dimension of an array."""


@dataclass(frozen=True, slots=True)
class Magnitude:
    """Values from `low` to `high`, or beyond by the sizes' absolute values times `factors`."""

    low: int = 0
    high: int = 0
    factors: Mapping[Size, int] = field(default_factory=dict[Size, int])

    @property
    def constant(self) -> int:
        """The largest absolute value where all sizes are 0."""
        return max(-self.low, self.high)

    def __add__(self, other: Magnitude) -> Magnitude:
        factors = {
            size: self.factors.get(size, 0) + other.factors.get(size, 0)
            for size in (*self.factors, *other.factors)
        }
        return Magnitude(self.low + other.low, self.high + other.high, factors)

    def __sub__(self, other: Magnitude) -> Magnitude:
        return self + other.times(-1)

    def times(self, factor: int) -> Magnitude:
        """That of a product with a constant."""
        low, high = sorted((self.low * factor, self.high * factor))
        factors = {size: own * abs(factor) for size, own in self.factors.items()}
        return Magnitude(low, high, factors)

    def divided(self, divisor: int) -> Magnitude:
        """That of a quotient by a constant, however it is rounded."""
        if divisor == 0 or self.factors:
            return self.around_zero()
        low, high = sorted((self.low // divisor, self.high // divisor))
        return Magnitude(low, high + 1)

    def around_zero(self) -> Magnitude:
        """That of a value whose absolute value is no larger."""
        return Magnitude(-self.constant, self.constant, self.factors)

    def hull(self, other: Magnitude) -> Magnitude:
        """That of a value which is one or the other, or between them."""
        factors = {
            size: max(self.factors.get(size, 0), other.factors.get(size, 0))
            for size in (*self.factors, *other.factors)
        }
        return Magnitude(min(self.low, other.low), max(self.high, other.high), factors)

    def is_large(self, bits: int) -> bool:
        """Whether an integer of so many bits might not hold it."""
        return bool(self.factors) or self.constant >> (bits // 2) > 0


def exactly(value: int) -> Magnitude:
    """The magnitude of a constant."""
    return Magnitude(value, value)
