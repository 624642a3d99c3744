"""How long computing takes where all data are in the cache of level 1: a part of the estimate."""

from __future__ import annotations

from typing import NamedTuple

from .loop_context import Placement
from .sections import Innermost, Vectors

_CYCLES = (0.5, 0.5, 6.0, 18.0, 0.7, 1.0, 14.0, 0.7)
"""Per vector, by the kinds of `Operations`."""

_GATHER = 0.7
_SCATTER = 1.2
"""Cycles per lane."""


class ComputingTimes(NamedTuple):
    """Cycles per instance, one by one and in vectors, on data in the cache of level 1.

    In a loop that is marked to have vectors, both are those of vectors. `lanes` are those that
    vectors have, `unrolled` says that the innermost loop is, by request.
    """

    scalar: float
    packed: float
    lanes: float
    unrolled: bool


def computing_times(place: Placement, vectors: Vectors, inner: Innermost) -> ComputingTimes:
    """How long computing takes, whether or not LLVM makes vectors."""
    profile = place.profile
    lanes = max(1.0, vectors.lanes if vectors.marked else min(profile.lanes, vectors.values))
    unrolled = place.innermost is not None and (place.loops[place.innermost].unroll or 1) > 1
    operations = sum([c * n for c, n in zip(_CYCLES, profile.operations, strict=True)])
    scalar = max(operations, inner.loads / 2, inner.stores)
    scattered = vectors.load_reversed + vectors.load_short + vectors.load_far + vectors.load_page
    spread = vectors.store_reversed + vectors.store_short + vectors.store_far + vectors.store_page
    registers = max(1.0, vectors.registers)
    packed = scalar * registers / lanes + scattered * _GATHER + spread * _SCATTER
    return ComputingTimes(packed if vectors.marked else scalar, packed, lanes, unrolled)
