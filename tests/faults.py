"""The fault campaign: kills, signals, broken homes, full disks and crowds lose and leave nothing.

    python tests/faults.py --kills 50 --record faults
    python tests/faults.py --only signals,memory --scale 0.1

Every line is one kind of fault: how often it was done, and what went wrong. A finding is a finished
label or database entry that is lost, a next start that does not work, a wrong result, a traceback,
a wrong exit code, a process that is left behind, or memory that grows. The exit code is 1 when
there are findings. `--scale` multiplies all counts.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from support.faults import crowds, homes, job_arrays, kills, signals
from support.faults.processes import ROOT, Home

Check = Callable[[Home, Random, int], Iterator[str]]


@dataclass(frozen=True)
class Fault:
    """A kind of fault: its group for `--only`, how often it is done by default."""

    group: str
    name: str
    times: int
    check: Check


FAULTS = (
    Fault("kills", "kill -9 of tune", 50, kills.kills_of_tune),
    Fault("kills", "kill -9 of data generate", 50, kills.kills_of_generate),
    Fault("kills", "kill -9 of a database writer", 50, kills.kills_of_writers("database")),
    Fault("kills", "kill -9 of a cache writer", 50, kills.kills_of_writers("cache")),
    Fault("signals", "Ctrl-C", 50, signals.signals(signal.SIGINT, 130)),
    Fault("signals", "SIGTERM", 50, signals.signals(signal.SIGTERM, 143)),
    Fault("writers", "entries of each of two writers at once", 500, crowds.writers(2)),
    Fault("writers", "entries of each of four writers at once", 500, crowds.writers(4)),
    Fault("threads", "calls and compiles by each of 8 threads", 12_000, crowds.threads),
    Fault("children", "children by fork, while a thread compiles", 50, crowds.children("fork")),
    Fault("children", "children by spawn", 10, crowds.children("spawn")),
    Fault("children", "children by forkserver", 10, crowds.children("forkserver")),
    Fault("homes", "commands in a read-only home", 8, homes.works_in({"HOME": "/proc"})),
    Fault("homes", "commands without a home", 8, homes.works_in({"HOME": ""})),
    Fault(
        "homes",
        "commands whose home is a file",
        8,
        homes.works_in({"HOME": str(Path(__file__).resolve())}),
    ),
    Fault("homes", "commands on a full disk", 9, homes.full_disk),
    Fault("homes", "commands while the clock jumps", 8, homes.jumping_clock),
    Fault("dask", "Dask workers lost", 10, crowds.lost_workers),
    *(
        Fault("cluster", f"kill -9 of jobs of {name}", 30, job_arrays.job_array(*array))
        for name, array in job_arrays.ARRAYS.items()
    ),
    Fault("memory", "calls", 1_000_000, homes.memory_of_calls),
    Fault("memory", "compiles", 10_000, homes.memory_of_compiles),
)

COLUMNS = ("fault", "times", "findings")


def main() -> int:
    """Runs what the command line, or else the environment, asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    groups = list(dict.fromkeys(fault.group for fault in FAULTS))
    scale = os.environ.get("LOOPWRIGHT_CAMPAIGN_FAULTS", "1")
    parser.add_argument("--only", metavar="GROUP,...", help=f"of {', '.join(groups)}")
    parser.add_argument("--scale", type=float, default=float(scale), help="of all counts")
    parser.add_argument("--kills", type=int, help="kills of each kind of process")
    parser.add_argument("--seed", type=int, default=0, help="decides the moments")
    parser.add_argument("--record", metavar="NAME", help="write benchmarks/results/NAME.json")
    options = parser.parse_args()
    wanted = groups if options.only is None else options.only.split(",")
    unknown = [group for group in wanted if group not in groups]
    if unknown:
        parser.error(f"no group {unknown[0]}; there are {', '.join(groups)}")
    rows: list[tuple[str, int, int]] = []
    for fault in FAULTS:
        if fault.group in wanted:
            times = max(1, round(fault.times * options.scale))
            if fault.group == "kills" and options.kills is not None:
                times = options.kills
            rows.append((fault.name, times, _count(fault, times, options.seed)))
    if options.record is not None:
        _record(options.record, rows)
    return 1 if any(found for _, _, found in rows) else 0


def _count(fault: Fault, times: int, seed: int) -> int:
    """Does a fault, prints what it finds, and returns how much that is."""
    start, found = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as name:
        for finding in fault.check(Home(Path(name)), Random(f"{fault.name} {seed}"), times):
            found += 1
            print(f"FINDING: {fault.name}: {finding}", flush=True)
    seconds = time.monotonic() - start
    print(f"{fault.name}: {times} times, {found} findings, {seconds:.0f} s", flush=True)
    return found


def _record(name: str, rows: list[tuple[str, int, int]]) -> None:
    sys.path.append(str(ROOT / "benchmarks"))
    import record

    record.write(name, COLUMNS, rows, title="Faults", page="faults")


if __name__ == "__main__":
    sys.exit(main())
