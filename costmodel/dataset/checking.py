"""Consistency check of a directory of labels."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from .files import DAMAGED
from .rows import FAILED, Row, digest, pair_key
from .shards import list_shards, read_rows


@dataclass(frozen=True)
class Report:
    """What was read, and one line per problem. `pairs` are labels of different schedules.

    `put_aside` are problems that are kept for inspection, and can be deleted.
    """

    shards: int
    rows: int
    pairs: int
    problems: tuple[str, ...]
    put_aside: tuple[str, ...]


def check(directory: Path) -> Report:
    """Reads all shards, verifies keys and numbers; raises DatasetError, OSError."""
    listing = list_shards(directory)
    problems = [damage.reason for damage in listing.damaged]
    problems += [
        f"{damage.reason}; the next process that adds labels mends it from its copy"
        for damage in listing.mendable
    ]
    problems += [f"{path}: left by an interrupted process" for path in listing.left_behind]
    problems += [f"{shard.path}: replaced by another shard" for shard in listing.replaced]
    put_aside = [f"{path}: put aside" for path in sorted(directory.glob(f"*{DAMAGED}"))]
    problems += put_aside
    seen: Counter[bytes] = Counter()
    programs: dict[bytes, bool] = {}
    rows = pairs = 0
    for shard in listing.shards:
        for row in read_rows(shard):
            rows += 1
            seen[row["key"]] += 1
            pairs += row["schedule"] != "" and seen[row["key"]] == 1
            identity = row["program_key"]
            programs[identity] = programs.get(identity, False) or row["schedule"] == ""
            wrong = _wrong(row)
            if wrong:
                problems.append(f"{shard.path}: row {row['key'].hex()}: {wrong}")
    doubles = sum(count - 1 for count in seen.values())
    if doubles:
        problems.append(f"{doubles} rows are there twice; readers take one of them")
    orphans = sum(not has_own for has_own in programs.values())
    if orphans:
        problems.append(f"{orphans} programs have no row of their own")
    return Report(len(listing.shards), rows, pairs, tuple(problems), tuple(put_aside))


def _wrong(row: Row) -> str | None:
    """What is wrong with a row, if anything."""
    if row["program_key"] != digest(row["program"], row["sizes"]):
        return "the key of the program is not that of its text and sizes"
    threads, schedule = row["threads"], row["schedule"]
    machine, fast_math = row["machine"], row["fast_math"]
    if row["key"] != pair_key(row["program_key"], schedule, threads, machine, fast_math=fast_math):
        return "the key is not that of its program, schedule and machine"
    if row["status"] == FAILED:
        return None
    for name in ("seconds", "fastest", "baseline_seconds"):
        if not math.isfinite(row[name]) or row[name] <= 0:
            return f"{name} is {row[name]}"
    return None
