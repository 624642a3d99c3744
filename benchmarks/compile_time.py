"""Compile time by stage, for gemm with a tiled, vectorised, parallel schedule.

Runs in a process whose modules are loaded and whose object cache is off; prints medians.
"""

from __future__ import annotations

import os
import statistics

os.environ["LOOPWRIGHT_CACHE"] = "off"

import loopwright
from loopwright.kernels.catalogue import catalogue
from loopwright.support.stage_times import record_stages

SCHEDULES = {
    "tile, vectorize, parallel": (
        "affine-schedule{fusion=minimal},interchange{loops=S1.i,S1.k,S1.j},"
        "tile{loops=S1.i,S1.k,S1.j sizes=32,64,128},vectorize{loops=S0.j,S1.j},parallel{loops=it}"
    ),
    "register tile": (
        "affine-schedule{fusion=minimal},tile{loops=S1.i,S1.j,S1.k sizes=96,192,256},"
        "tile{loops=S1.i,S1.j sizes=8,24},interchange{loops=S1.k,S1.i,S1.j},"
        "unroll{loops=S1.i,S1.j},vectorize{loops=S0.j,S1.j},parallel{loops=it}"
    ),
}
REPETITIONS = 9


def main() -> None:
    """Prints one table per schedule."""
    entry = catalogue()["polybench/gemm"]
    arguments = entry.arguments("LARGE")
    for name, schedule in SCHEDULES.items():
        runs: list[dict[str, float]] = []
        for _ in range(REPETITIONS + 1):
            with record_stages() as times:
                program = loopwright.load(entry.text)[entry.function]
                program.compile(schedule=schedule, threads=2).specialise(*arguments)
            runs.append({**times.seconds, "total": times.total})
        print(f"gemm, {name}")
        for stage in runs[-1]:
            milliseconds = sorted(run[stage] * 1e3 for run in runs[1:])
            print(
                f"  {stage:<14}{statistics.median(milliseconds):>8.1f} ms"
                f"   ({milliseconds[0]:.1f} to {milliseconds[-1]:.1f})"
            )


if __name__ == "__main__":
    main()
