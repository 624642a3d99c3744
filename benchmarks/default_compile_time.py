"""Compile time with the default schedule, for every PolyBench kernel at LARGE.

Usage: python benchmarks/default_compile_time.py [--record NAME] [KERNEL ...]

One process whose modules are loaded and whose object cache is off; medians of three, in
milliseconds: choosing the schedule, LLVM, everything.
"""

from __future__ import annotations

import argparse
import os
import statistics

os.environ["LOOPWRIGHT_CACHE"] = "off"

import record

import loopwright
from loopwright.kernels.catalogue import catalogue
from loopwright.support.stage_times import record_stages

REPETITIONS = 3
COLUMNS = ("choose schedule", "optimise", "codegen", "total")


def main() -> None:
    """Prints one row per kernel, then median and worst."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    record.add_option(parser)
    options = parser.parse_args()
    kernels = options.kernels or [
        name.removeprefix("polybench/") for name in catalogue() if name.startswith("polybench/")
    ]
    totals: list[float] = []
    _compile("atax")
    print(" " * 16 + "".join(f"{stage:>18}" for stage in COLUMNS))
    for name in kernels:
        runs = [_compile(name) for _ in range(REPETITIONS)]
        stages = {stage for run in runs for stage in run}
        medians = {
            stage: 1e3 * statistics.median(run.get(stage, 0.0) for run in runs) for stage in stages
        }
        totals.append(medians["total"])
        cells = "".join(f"{medians.get(stage, 0.0):>18.0f}" for stage in COLUMNS)
        print(f"{name:<16}{cells}", flush=True)
    print(f"median {statistics.median(totals):.0f} ms, worst {max(totals):.0f} ms")
    seconds = [round(milliseconds / 1e3, 2) for milliseconds in totals]
    rows = [*zip(kernels, seconds, strict=True), ("median", statistics.median(seconds))]
    record.write(options.record, ("kernel", "s"), rows)


def _compile(name: str) -> dict[str, float]:
    entry = catalogue()[f"polybench/{name}"]
    arguments = entry.arguments("LARGE")
    with record_stages() as times:
        program = loopwright.load(entry.text)[entry.function]
        program.compile("default", threads=2, fast_math=True).specialise(*arguments)
    return {**times.seconds, "total": times.total}


if __name__ == "__main__":
    main()
