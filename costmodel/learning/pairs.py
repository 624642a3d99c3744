"""Labelled pairs by program, read from a directory of shards."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..dataset.rows import FAILED, Row
from .errors import LearningError

COLUMNS = [
    "program_key",
    "program",
    "sizes",
    "schedule",
    "status",
    "seconds",
    "baseline_seconds",
    "threads",
    "fast_math",
    "origin",
    "machine",
]

LEAST_SPEEDUP = 0.01
"""Smaller speed-ups count as this (LOOPer's published code): nobody needs to tell them apart."""

LEAST_BOUND = 0.125
"""Bounds of pairs that were cut off are not lower than this: how far a run had come when it was cut
off says little, and percentages of tiny bounds would outweigh all errors of measured pairs."""


@dataclass(frozen=True, eq=False)
class ProgramPairs:
    """A program with its labelled schedules (pipelines of passes); arrays have one entry each.

    `key` identifies text and sizes. `speedups` is over the program as written on one thread; where
    `censored`, the schedule was cut off and this is an upper bound. `threads` is how many threads a
    pair is to be predicted for: for schedules without parallel loops, as many as the others have.
    `machine` is the fingerprint of the machine.
    """

    key: str
    text: str
    sizes: Mapping[str, int]
    fast_math: bool
    origin: str
    machine: str
    schedules: tuple[str, ...]
    speedups: NDArray[np.float64]
    censored: NDArray[np.bool_]
    threads: tuple[int, ...]


def read_pairs(
    directory: Path, machine: str | None = None, *, several: bool = False
) -> list[ProgramPairs]:
    """All labelled pairs, sorted by machine and program; raises DatasetError, LearningError.

    `machine` is a part of machines' fingerprints; unless `several` may be together, it must be that
    of one.
    """
    from ..dataset.shards import list_shards, read_table

    listing = list_shards(directory)
    if not listing.shards:
        raise LearningError(
            f"{directory} has damaged shards of labels only; see: loopwright data check {directory}"
            if listing.damaged
            else f"{directory} has no shards of labels; make some: loopwright data"
        )
    rows: list[Row] = read_table(listing.shards, COLUMNS).to_pylist()
    return pairs_of(rows, machine, directory, several=several)


def pairs_of(
    rows: Sequence[Row], machine: str | None, directory: Path, *, several: bool = False
) -> list[ProgramPairs]:
    """The labelled pairs in the rows of a directory, as `read_pairs` gives them."""
    rows = _of_machines(
        [row for row in rows if row["status"] != FAILED and row["schedule"]],
        machine,
        directory,
        several=several,
    )
    threads: dict[str, int] = {}
    programs: dict[tuple[str, bytes, bool], list[Row]] = {}
    for row in rows:
        threads[row["machine"]] = max(threads.get(row["machine"], 1), row["threads"])
        key = row["machine"], row["program_key"], row["fast_math"]
        programs.setdefault(key, []).append(row)
    return [_program(programs[key], threads[key[0]]) for key in sorted(programs)]


def _of_machines(
    rows: Sequence[Row], machine: str | None, directory: Path, *, several: bool
) -> list[Row]:
    machines = sorted(
        {row["machine"] for row in rows if machine is None or machine in row["machine"]}
    )
    if not machines:
        which = f" of a machine with '{machine}' in its fingerprint" if machine else ""
        raise LearningError(f"{directory} has no labelled pairs{which}")
    if len(machines) > 1 and not several:
        names = " and ".join(machines)
        raise LearningError(
            f"{directory} has labels of {len(machines)} machines, and this model is for one: "
            f"choose by a part of the fingerprint with --machine; there are {names}"
        )
    return [row for row in rows if row["machine"] in machines]


def _program(rows: Sequence[Row], threads: int) -> ProgramPairs:
    first = rows[0]
    return ProgramPairs(
        first["program_key"].hex(),
        first["program"],
        json.loads(first["sizes"]),
        bool(first["fast_math"]),
        first["origin"],
        first["machine"],
        tuple(row["schedule"] for row in rows),
        np.array([_speedup(row) for row in rows], np.float64),
        np.array([row["status"] == "censored" for row in rows], np.bool_),
        tuple(row["threads"] if "parallel" in row["schedule"] else threads for row in rows),
    )


def _speedup(row: Row) -> float:
    least = LEAST_BOUND if row["status"] == "censored" else LEAST_SPEEDUP
    return max(least, row["baseline_seconds"] / row["seconds"])
