"""Compile time with the default schedule, for the kernels of PolyBench and of the field at LARGE.

Usage: python benchmarks/default_compile_time.py [--record NAME] [SUITE ...]

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

SUITES = ["polybench", "field"]
REPETITIONS = 3
WIDTH = 28
COLUMNS = ("choose schedule", "optimise", "codegen", "total")


def main() -> None:
    """Prints one row per kernel, then median and worst of each suite."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="SUITE", default=SUITES)
    record.add_option(parser)
    options = parser.parse_args()
    rows: list[tuple[str, int, float, float, str]] = []
    _compile("polybench/atax")
    print(" " * WIDTH + "".join(f"{stage:>18}" for stage in COLUMNS))
    for suite in options.suites:
        totals = {name: _median(name) for name in catalogue() if name.startswith(f"{suite}/")}
        worst = max(totals, key=lambda name: totals[name])
        median = statistics.median(totals.values())
        print(f"{suite}: median {median:.2f} s, worst {totals[worst]:.2f} s ({worst})")
        name = worst.removeprefix(f"{suite}/")
        rows.append((suite, len(totals), round(median, 2), round(totals[worst], 2), name))
    record.write(options.record, ("suite", "kernels", "median, s", "worst, s", "worst"), rows)


def _median(name: str) -> float:
    """Seconds until a kernel can be called; prints the row of its stages."""
    runs = [_compile(name) for _ in range(REPETITIONS)]
    medians = {stage: statistics.median(run.get(stage, 0.0) for run in runs) for stage in COLUMNS}
    cells = "".join(f"{1e3 * seconds:>18.0f}" for seconds in medians.values())
    print(f"{name:<{WIDTH}}{cells}", flush=True)
    return medians["total"]


def _compile(name: str) -> dict[str, float]:
    entry = catalogue()[name]
    arguments = entry.arguments("LARGE")
    with record_stages() as times:
        program = loopwright.load(entry.text)[entry.function]
        program.compile("default", threads=2, fast_math=True).specialise(*arguments)
    return {**times.seconds, "total": times.total}


if __name__ == "__main__":
    main()
