"""Footprints: bytes and cache lines that accesses touch."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod

from ..polyhedral.scop import Access
from .program_statistics import ProgramStatistics, bytes_of


def footprint(
    statistics: ProgramStatistics,
    accesses: Sequence[tuple[Access, Sequence[float]]],
    cache_line: int,
) -> dict[str, float]:
    """Bytes per array, in whole cache lines, that accesses touch while iterators take `spans`."""
    groups: dict[tuple[str, tuple[tuple[int, ...], ...]], float] = {}
    whole: dict[str, float] = {}
    for access, spans in accesses:
        rows = access.coefficients
        extents = statistics.extents(access.array)
        size = bytes_of(access.array.element_type)
        lengths = [
            min(
                max(1.0, extent),
                1 + sum(abs(c) * max(0.0, s - 1) for c, s in zip(row, spans, strict=True)),
            )
            for row, extent in zip(rows, extents, strict=True)
        ]
        name = access.array.name
        whole[name] = max(cache_line, prod(extents) * size)
        last = lengths[-1] * size if lengths else size
        lines = ceil(last / cache_line) * cache_line
        key = (name, rows)
        groups[key] = max(groups.get(key, 0.0), prod(lengths[:-1]) * lines)
    result: dict[str, float] = {}
    for (name, _), amount in groups.items():
        result[name] = min(whole[name], result.get(name, 0.0) + amount)
    return result


def lines(elements: int, size: int, cache_line: int) -> float:
    """Cache lines of so many neighbouring elements of `size` bytes that begin anywhere."""
    return 1 + (elements - 1) * size / cache_line
