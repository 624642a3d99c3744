"""Named fields of feature vectors."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]


@dataclass(frozen=True)
class Field:
    """Adjacent numbers of a vector. `is_tag`: 0 or 1; all others are log-transformed."""

    name: str
    width: int = 1
    is_tag: bool = False


@dataclass(frozen=True)
class Schema:
    """The fields of a vector, in order."""

    fields: tuple[Field, ...]

    @cached_property
    def slices(self) -> Mapping[str, slice]:
        """Where each field is."""
        result: dict[str, slice] = {}
        start = 0
        for each in self.fields:
            assert each.name not in result, f"two fields are called {each.name}"
            result[each.name] = slice(start, start + each.width)
            start += each.width
        return result

    @cached_property
    def width(self) -> int:
        """How many numbers a vector has."""
        return sum(each.width for each in self.fields)

    @cached_property
    def version(self) -> str:
        """Other texts for other schemata."""
        return hashlib.sha256(repr(self.fields).encode()).hexdigest()[:8]

    @cached_property
    def _is_logarithmic(self) -> NDArray[np.bool_]:
        return np.repeat(
            [not each.is_tag for each in self.fields], [each.width for each in self.fields]
        )

    def vector(self, values: Mapping[str, float | Iterable[float]]) -> Vector:
        """A vector with some fields set and zeros elsewhere; short values are padded with zeros.

        What is no tag becomes `sign(x) log(1 + |x|)` (Tiramisu 2021, section 4.4).
        """
        result = np.zeros(self.width, np.float32)
        for name, value in values.items():
            place = self.slices[name]
            numbers = [value] if isinstance(value, (int, float)) else list(value)
            assert len(numbers) <= place.stop - place.start, f"{name} has too many values"
            result[place.start : place.start + len(numbers)] = numbers
        chosen = result[self._is_logarithmic]
        result[self._is_logarithmic] = np.sign(chosen) * np.log1p(np.abs(chosen))
        return result
