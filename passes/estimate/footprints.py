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
    groups: dict[tuple[str, tuple[tuple[int, ...], ...], tuple[int, ...]], float] = {}
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
        order = statistics.order(access.array)
        outer, last = _contiguous(
            [lengths[k] for k in order], [extents[k] for k in order], size, cache_line
        )
        lines = ceil(last / cache_line) * cache_line
        key = (name, rows, _planes(access, statistics.pitches(access.array), cache_line // size))
        amount = min(prod(outer) * lines, _instances(rows, spans) * cache_line)
        groups[key] = max(groups.get(key, 0.0), amount)
    result: dict[str, float] = {}
    for (name, _, _), amount in groups.items():
        result[name] = min(whole[name], result.get(name, 0.0) + amount)
    return result


def _instances(rows: Sequence[Sequence[int]], spans: Sequence[float]) -> float:
    """How many elements an access touches at most: of a diagonal, one for each iteration."""
    return prod(max(1.0, span) for k, span in enumerate(spans) if any(row[k] for row in rows))


def _planes(access: Access, pitches: Sequence[int], line: int) -> tuple[int, ...]:
    """The constant subscripts that choose a part of an array a cache line or more from the next."""
    return tuple(
        constant
        for row, constant, pitch in zip(access.coefficients, access.constants, pitches, strict=True)
        if not any(row) and pitch >= line
    )


def _contiguous(
    lengths: Sequence[float], extents: Sequence[int], size: int, cache_line: int
) -> tuple[Sequence[float], float]:
    """The lengths of the outer dimensions, and the bytes from the first to the last of inner ones.

    Rows shorter than a line, as the channels of pixels, share lines with the next, whether all of
    their elements are touched or one.
    """
    if not lengths:
        return (), size
    *outer, last = lengths
    span, pitch = last * size, size
    for extent in reversed(extents[1:]):
        pitch *= extent
        if pitch >= cache_line:
            break
        span += (outer.pop() - 1) * pitch
    return outer, span


def lines(elements: int, size: int, cache_line: int) -> float:
    """Cache lines of so many neighbouring elements of `size` bytes that begin anywhere."""
    return 1 + (elements - 1) * size / cache_line
