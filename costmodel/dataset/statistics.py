"""Summary statistics of a directory of labels."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from .rows import FAILED, Row
from .shards import list_shards, read_table

COLUMNS = [
    "program_key",
    "schedule",
    "status",
    "seconds",
    "spread",
    "threads",
    "baseline_seconds",
    "measured_at",
    "machine",
    "compiler",
]
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def summarise(directory: Path) -> list[tuple[str, str]]:
    """Names and values, as a table of two columns; raises DatasetError, OSError."""
    listing = list_shards(directory)
    rows: list[Row] = read_table(listing.shards, COLUMNS).to_pylist()
    programs = [row for row in rows if row["schedule"] == ""]
    pairs = [row for row in rows if row["schedule"] != ""]
    usable = [row for row in programs if row["status"] != FAILED]
    lines = [
        ("labelled pairs", f"{len(pairs)}"),
        ("programs", f"{len(usable)}"),
        ("machines", f"{len({row['machine'] for row in rows})}"),
        ("code generators", f"{len({row['compiler'] for row in rows})}"),
        ("programs that cannot be measured", f"{len(programs) - len(usable)}"),
        ("shards", f"{len(listing.shards)}, {_size(directory)}"),
    ]
    if not pairs:
        return lines
    status: Counter[str] = Counter(row["status"] for row in pairs)
    lines += [
        ("censored", f"{status['censored']} ({status['censored'] / len(pairs):.1%})"),
        ("parallel", f"{sum(row['threads'] > 1 for row in pairs) / len(pairs):.1%}"),
        ("pairs per program", _quantiles(list(_per_program(pairs).values()), ".0f")),
        ("run time, ms", _quantiles([1e3 * row["seconds"] for row in usable], ".3g")),
        ("speed-up", _quantiles([r["baseline_seconds"] / r["seconds"] for r in pairs], ".2f")),
        ("best speed-up of a program", _quantiles(_best(pairs), ".2f")),
        ("spread", _quantiles([r["spread"] for r in pairs if r["status"] == "measured"], ".1%")),
    ]
    return lines


def _per_program(pairs: list[Row]) -> Counter[bytes]:
    return Counter(row["program_key"] for row in pairs)


def _best(pairs: list[Row]) -> list[float]:
    best: dict[bytes, float] = {}
    for row in pairs:
        key = row["program_key"]
        best[key] = max(best.get(key, 0.0), row["baseline_seconds"] / row["seconds"])
    return list(best.values())


def _quantiles(values: list[float], form: str) -> str:
    """`0.1 .. 0.5 .. 2`: the quantiles of `QUANTILES`."""
    return " .. ".join(format(value, form) for value in np.quantile(values, QUANTILES))


def _size(directory: Path) -> str:
    total = sum(path.stat().st_size for path in directory.glob("pairs-*.parquet"))
    return f"{total / 2**20:.2f} MiB"
