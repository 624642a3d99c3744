"""Register tiles: blocks of accumulators in vector registers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import NamedTuple

from ..machine.machine import Machine

ADDRESSING = 2
"""Vector registers that a micro-kernel needs besides accumulators and one row of vectors."""

WIDEST = 4
"""Vectors side by side: more rows reuse more than more vectors do."""

STEPS_PER_TILE = 4.0
"""What entering a tile costs per accumulator, in cycles: loads and stores of the result."""


@dataclass(frozen=True)
class RegisterTile:
    """`rows` x `vectors` accumulators."""

    rows: int
    vectors: int


def register_tile(
    rows: int,
    vectors: int,
    depth: int,
    machine: Machine,
    tallest: int | None = None,
    streams: int = 1,
) -> RegisterTile:
    """The block with which a result of `rows` x `vectors` vectors takes the fewest cycles.

    Each step of a sum of `depth` terms loads a row of vectors of each of the operands that stream,
    and broadcasts one element of the others per row.
    Blocks at the edges are smaller, so the extents decide as much as the number of registers does.
    They have at most `tallest` rows.
    """
    rates = _Rates(
        machine.multiply_adds_per_cycle,
        machine.loads_per_cycle,
        machine.latencies["additions"],
        streams,
    )
    tallest = min(rows, tallest or rows)
    return _best(rows, vectors, depth, machine.vector_registers, rates, tallest)


class _Rates(NamedTuple):
    """Throughput bounds of one step of a reduction."""

    multiply_adds: float
    loads: float
    latency: float
    streams: int


@cache
def _best(
    rows: int, vectors: int, depth: int, registers: int, rates: _Rates, tallest: int
) -> RegisterTile:
    # Terms of several products have a sum of their own before they are added up.
    free = registers - ADDRESSING - (rates.streams if rates.streams > 1 else 0)
    candidates = [
        RegisterTile(height, width)
        for width in range(1, min(WIDEST, vectors) + 1)
        for height in range(1, min(tallest, (free - rates.streams * width) // width) + 1)
    ]
    return min(
        candidates, key=lambda tile: (_cycles(tile, rows, vectors, depth, rates), -tile.rows)
    )


def _cycles(tile: RegisterTile, rows: int, vectors: int, depth: int, rates: _Rates) -> float:
    return sum(
        row_blocks * vector_blocks * _block_cycles(height, width, depth, rates)
        for height, row_blocks in _blocks(rows, tile.rows)
        for width, vector_blocks in _blocks(vectors, tile.vectors)
    )


def _blocks(extent: int, size: int) -> list[tuple[int, int]]:
    """Sizes of blocks and how many there are."""
    whole, rest = divmod(extent, size)
    return [(size, whole), *([(rest, 1)] if rest else [])]


def _block_cycles(height: int, width: int, depth: int, rates: _Rates) -> float:
    fused = height * width
    # One register's worth of loads comes with the multiply-adds where there is a single vector.
    loads = rates.streams * (width + height)
    step = max(rates.streams * fused / rates.multiply_adds, loads / rates.loads, rates.latency)
    return depth * step + STEPS_PER_TILE * fused


def waits_for_lines(tile: RegisterTile, lines: float, machine: Machine, level: int) -> bool:
    """Whether a step that needs so many lines from behind a cache has its products before them.

    That is the case where the lines lie apart, so that nothing fetches them ahead.
    """
    cycles = lines * machine.cache_line / machine.bandwidths[level] * machine.hertz
    return cycles > tile.rows * tile.vectors / machine.multiply_adds_per_cycle


def even_size(extent: int, largest: int, unit: int) -> int:
    """The size, a multiple of `unit`, that cuts an extent into equal parts of at most `largest`."""
    parts = max(1, ceil(extent / max(unit, largest)))
    return ceil(ceil(extent / parts) / unit) * unit
