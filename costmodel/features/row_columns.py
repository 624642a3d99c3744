"""Which number stands where in a row: names and slices, from the fields of the sections."""

from __future__ import annotations

from .bodies import Body
from .outer import Outer
from .sections import (
    LEVELS,
    Control,
    Estimate,
    Innermost,
    Level,
    Machine,
    Memory,
    Recurrence,
    Threads,
    Vectors,
    Work,
)
from .statements import Operations
from .trip_counts import TripCounts

FEATURES_VERSION = 9
"""Increases when a number changes its meaning or place: models of other versions cannot be used."""

SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("work", Work._fields),
    ("operations", Operations._fields),
    ("vectors", Vectors._fields),
    ("trip_counts", TripCounts._fields),
    ("innermost", Innermost._fields),
    ("body", Body._fields),
    ("outer", Outer._fields),
    ("recurrence", Recurrence._fields),
    ("control", Control._fields),
    ("threads", Threads._fields),
    ("memory", Memory._fields),
    *((f"level{number}", Level._fields) for number in range(LEVELS)),
    ("machine", Machine._fields),
    ("estimate", Estimate._fields),
)

NAMES: tuple[str, ...] = tuple(f"{section}.{name}" for section, names in SECTIONS for name in names)


def _slices() -> dict[str, slice]:
    result: dict[str, slice] = {}
    start = 0
    for section, names in SECTIONS:
        result[section] = slice(start, start + len(names))
        start += len(names)
    return result


SLICES = _slices()


def column(name: str) -> int:
    """The position of a feature; raises ValueError."""
    return NAMES.index(name)
