"""Typical sizes: those for which a schedule is chosen where nobody knows them."""

from __future__ import annotations

from collections.abc import Mapping

from .bounds import BoundsError, check_bounds
from .extents import infer_extents
from .scop import Scop

_TYPICAL = (2000, 1000, 500, 250, 100, 50, 20, 10, 4)
_MOST_BYTES = 1 << 27


def typical_sizes(scop: Scop, given: Mapping[str, int]) -> dict[str, int] | None:
    """All sizes, some of which are given, so that arrays are large but fit; None without any."""
    for size in _TYPICAL:
        sizes = {p.name: size for p in scop.parameters if p.dimension is None} | dict(given)
        found = infer_extents(scop, sizes)
        try:
            check_bounds(scop, found)
        except (BoundsError, KeyError):
            continue
        if len(found) == len(scop.sizes) and _bytes(scop, found) <= _MOST_BYTES:
            return found
    return None


def _bytes(scop: Scop, sizes: Mapping[str, int]) -> int:
    total = 0
    for array in scop.arrays:
        if array.argument is not None:
            count = 8
            for extent in array.shape:
                count *= sizes[extent] if isinstance(extent, str) else int(str(extent))
            total += count
    return total
