"""Benchmark report: rows for the terminal, CSV, JSON and plots."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from ...passes.polyhedral.counting import has_products
from ...support.output_files import replacing
from ..machine.measured import MeasuredMachine
from ..measuring.timing import Timing, format_seconds
from .case import Case
from .harness import Outcome
from .plots import Point, draw_bars, draw_roofline, figure, write


@dataclass(frozen=True)
class Row:
    """One variant on one case; seconds, FLOP/s and bytes.

    `share` is that of the roofline limit, `speedup` against the unscheduled program on one thread,
    `difference` the largest one from its results, relative to the largest value. `within_spread`
    says that the medians differ by no more than the larger interquartile range. Fields are None
    where the variant did not run; `note` then says why.
    """

    kernel: str
    size: str
    element_type: str
    peer: str
    variant: str
    threads: int
    version: str
    flops: int
    traffic: int
    limit: float
    median: float | None = None
    minimum: float | None = None
    spread: float | None = None
    repetitions: int = 0
    steady: bool | None = None
    pinned: bool | None = None
    rate: float | None = None
    share: float | None = None
    speedup: float | None = None
    within_spread: bool | None = None
    difference: float | None = None
    bit_equal: bool | None = None
    correct: bool | None = None
    note: str = ""


def rows(case: Case, outcomes: Sequence[Outcome], machine: MeasuredMachine) -> list[Row]:
    """The rows of a case; the first outcome is the unscheduled program."""
    entry, size = case.entry, case.size
    flops, traffic = entry.flops(size), entry.traffic(size)
    timings = [outcome.timing for outcome in outcomes]
    base = timings[0] if timings else None
    fused = has_products(case.function.scop)
    result: list[Row] = []
    for outcome, timing in zip(outcomes, timings, strict=True):
        variant = outcome.variant
        ceilings = machine.ceilings(entry.element_type, variant.threads, fused=fused)
        level = machine.level(case.data_bytes, variant.threads)
        limit = ceilings.least_seconds(flops, traffic, level)
        measured: dict[str, Any] = {}
        if timing is not None:
            measured = {
                "median": timing.median,
                "minimum": timing.min,
                "spread": timing.spread,
                "repetitions": timing.repetitions,
                "steady": timing.steady,
                "pinned": timing.pinned,
                "rate": flops / timing.median,
                "share": limit / timing.median,
                "speedup": None if base is None else base.median / timing.median,
                "within_spread": base is not None
                and base is not timing
                and _is_within_spread(base, timing),
                "difference": max((a.relative for a in outcome.agreements), default=0.0),
                "bit_equal": all(a.bit_equal for a in outcome.agreements),
                "correct": outcome.agrees,
            }
        result.append(
            Row(
                kernel=entry.name,
                size=case.size_name,
                element_type=entry.element_type,
                peer=variant.peer,
                variant=variant.name,
                threads=variant.threads,
                version=variant.version,
                flops=flops,
                traffic=traffic,
                limit=limit,
                note=outcome.obstacle or "",
                **measured,
            )
        )
    return result


def _is_within_spread(one: Timing, other: Timing) -> bool:
    ranges = (timing.spread * timing.median for timing in (one, other))
    return abs(one.median - other.median) <= max(ranges)


HEADER = [
    *("variant", "threads", "median", "min", "spread", "runs", "GFLOP/s", "of limit"),
    *("speed-up", "difference"),
]


def table(found: Sequence[Row]) -> list[list[str]]:
    """Cells for the terminal, with a header."""
    return [HEADER, *(_cells(row) for row in found if row.median is not None)]


def _cells(row: Row) -> list[str]:
    assert row.median is not None and row.minimum is not None and row.rate is not None
    spread = f"{row.spread:.1%}" + ("" if row.steady else "*")
    if row.correct:
        difference = "bit-equal" if row.bit_equal else f"{row.difference:.1e}"
    else:
        difference = f"WRONG {row.difference:.1e}"
    return [
        row.variant,
        str(row.threads),
        format_seconds(row.median),
        format_seconds(row.minimum),
        spread,
        str(row.repetitions),
        f"{row.rate * 1e-9:.3g}" if row.flops else "-",
        f"{row.share:.1%}",
        "-" if row.speedup is None else f"{'~' if row.within_spread else ''}{row.speedup:.2f}x",
        difference,
    ]


def notes(found: Sequence[Row]) -> list[str]:
    """Why variants did not run, those with the same reason in one line."""
    reasons: dict[str, list[str]] = {}
    for row in found:
        if row.median is None:
            reasons.setdefault(row.note, []).append(row.variant)
    return [f"not run: {', '.join(dict.fromkeys(who))}: {why}" for why, who in reasons.items()]


def summary(found: Sequence[Row]) -> list[list[str]]:
    """The geometric mean of every variant's speed-up over all cases, with a header."""
    speedups: dict[tuple[str, int], list[float]] = {}
    for row in found:
        if row.speedup is not None:
            speedups.setdefault((row.variant, row.threads), []).append(row.speedup)
    cells = [["variant", "threads", "cases", "geometric mean", "least", "greatest"]]
    for (variant, threads), values in speedups.items():
        cells.append(
            [
                variant,
                str(threads),
                str(len(values)),
                f"{geometric_mean(values):.2f}x",
                f"{min(values):.2f}x",
                f"{max(values):.2f}x",
            ]
        )
    return cells


def geometric_mean(values: Sequence[float]) -> float:
    """The geometric mean of positive numbers."""
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def write_csv(path: Path, found: Sequence[Row], machine: MeasuredMachine) -> None:
    """One line per row, the machine in its last columns; raises OSError."""
    names = [field.name for field in fields(Row)]
    extra = {"cpu": machine.cpu, "cores": machine.cores, "machine_measured": machine.date}
    with replacing(path) as beside, beside.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*names, *extra])
        writer.writeheader()
        for row in found:
            writer.writerow({**asdict(row), **extra})


def plot(path: Path, found: Sequence[Row], machine: MeasuredMachine) -> None:
    """Bars of the speed-ups, and the roofline with the best of our own times.

    Raises PlottingError, OSError.
    """
    cases = list(dict.fromkeys((row.kernel, row.size) for row in found))
    several = len({size for _, size in cases}) > 1
    labels = [f"{kernel} {size}" if several else kernel for kernel, size in cases]
    names = dict.fromkeys((row.variant, row.threads) for row in found if row.speedup is not None)
    known = {(row.kernel, row.size, row.variant, row.threads): row.speedup for row in found}
    heights = {
        f"{variant}, {threads} threads" if threads > 1 else variant: [
            known.get((*case, variant, threads)) for case in cases
        ]
        for variant, threads in names
    }
    # The program that all are compared with has no bars: each would be the line at 1.
    heights = {
        n: values for n, values in heights.items() if any(v not in (None, 1.0) for v in values)
    }
    drawing, axes = figure(2, bars=len(labels) * (len(heights) + 1))
    draw_bars(axes[0][0], labels, heights, "speed-up against the unscheduled program, one thread")
    best: dict[str, Row] = {}
    floats = [row for row in found if row.rate is not None and row.element_type in machine.peaks]
    for label, case in zip(labels, cases, strict=True):
        ours = [
            row
            for row in floats
            if (row.kernel, row.size) == case and row.peer == "loopwright" and row.rate is not None
        ]
        if ours:
            best[label] = max(ours, key=lambda row: row.rate or 0.0)
    kinds = {row.element_type for row in best.values()} or {"f64"}
    points = [
        Point(label, row.flops / row.traffic, row.rate)
        for label, row in best.items()
        if row.rate is not None
    ]
    threads = max((row.threads for row in best.values()), default=1)
    draw_roofline(axes[1][0], machine, max(kinds), threads, points)
    write(drawing, path)
