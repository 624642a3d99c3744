"""The machine's roofline as text: performance by arithmetic intensity."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .measured import DRAM, MeasuredMachine

WIDTH, HEIGHT = 64, 14
FIRST, LAST = -5, 7
"""Arithmetic intensity from 2^FIRST to 2^LAST FLOP/byte."""


def tables(machine: MeasuredMachine) -> list[list[list[str]]]:
    """Tables of peaks, bandwidths and fork-join times, each with a header row."""
    threads = list(next(iter(machine.peaks.values())))
    counts = [f"{n} thread{'s' if n != '1' else ''}" for n in threads]
    peaks = [["GFLOP/s", *_with_spreads(counts)]]
    for kind, values in machine.peaks.items():
        cells = [text for n in threads for text in _cells(values[n].best, values[n].spread)]
        peaks.append([kind, *cells])
    bandwidths = [["GB/s", *_with_spreads(counts)]]
    for level, patterns in machine.bandwidths.items():
        for pattern, values in patterns.items():
            cells = [text for n in threads for text in _cells(values[n].best, values[n].spread)]
            bandwidths.append([f"{level} {pattern}", *cells])
    forks = [["fork and join", "median", "best", "spread"]]
    for name, value in machine.fork_join.items():
        forks.append(
            [
                f"of {machine.cores} threads, {name}",
                f"{value.median * 1e6:.2f} us",
                f"{value.best * 1e6:.2f} us",
                f"{value.spread:.0%}",
            ]
        )
    return [peaks, bandwidths, forks]


def _with_spreads(counts: Sequence[str]) -> list[str]:
    return [text for count in counts for text in (count, "spread")]


def _cells(rate: float, spread: float) -> list[str]:
    return [f"{rate * 1e-9:.1f}", f"{spread:.0%}"]


def draw(machine: MeasuredMachine, element_type: str, threads: int) -> str:
    """The roofline as a picture of letters: 1, 2, 3 for the caches, D for DRAM, = for the peak."""
    intensities = [2 ** (FIRST + (LAST - FIRST) * x / (WIDTH - 1)) for x in range(WIDTH)]
    ceilings = machine.ceilings(element_type, threads)
    peak = ceilings.peak
    assert peak is not None, "only floating-point types have a peak"
    low = math.log2(ceilings.attainable(DRAM, intensities[0]))
    step = (math.log2(peak) - low) / (HEIGHT - 1)
    rows = [[" "] * WIDTH for _ in range(HEIGHT)]
    for level in machine.bandwidths:
        letter = "D" if level == DRAM else level[-1]
        for column, intensity in enumerate(intensities):
            rate = ceilings.attainable(level, intensity)
            row = round((math.log2(rate) - low) / step)
            rows[row][column] = "=" if rate == peak else letter
    scale = [2 ** (low + step * row) * 1e-9 for row in range(HEIGHT)]
    lines = [f"{scale[row]:8.1f} |{''.join(rows[row])}" for row in reversed(range(HEIGHT))]
    lines.append(" " * 9 + "+" + "-" * WIDTH)
    marks = [" "] * (WIDTH + 6)
    for exponent in range(FIRST, LAST + 1, 2):
        text = f"2^{exponent}"
        at = round((exponent - FIRST) / (LAST - FIRST) * (WIDTH - 1))
        marks[at : at + len(text)] = text
    lines.append(" " * 10 + "".join(marks).rstrip())
    plural = "s" if threads > 1 else ""
    title = f"GFLOP/s by FLOP/byte, {element_type}, {threads} thread{plural}"
    return "\n".join([title, *lines])
