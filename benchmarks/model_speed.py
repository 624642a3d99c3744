"""Throughput of cost models: candidates per second on one core, features included.

Usage: python benchmarks/model_speed.py [--record NAME] [MODEL | FILE.npz] [KERNEL ...]

Candidates are random schedules of PolyBench kernels at LARGE, scored 64 at a time, as a search
does (garbage is collected seldom, too), each once, by the CPU's time. What is found out once per
program is shown apart (the first column).
"""

from __future__ import annotations

import argparse
from random import Random
from statistics import median
from time import process_time

import record

import loopwright
from loopwright.costmodel.find import find_model
from loopwright.costmodel.sampler import sample_schedules
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.schedules.schedule import Schedule
from loopwright.support.garbage_collection import garbage_collected_seldom

CANDIDATES = 256
BATCH = 64
KERNELS = ("gemm", "2mm", "atax", "jacobi-2d", "fdtd-2d", "correlation", "lu", "gemver")


def main() -> None:
    """Prints one row per kernel, then the median."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", default="roofline")
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", default=KERNELS)
    record.add_option(parser)
    options = parser.parse_args()
    model = find_model(options.model)
    rates: list[float] = []
    print(f"{'':<14}{'program, ms':>12}{'candidates/s':>14}")
    for name in options.kernels:
        entry = catalogue()[f"polybench/{name}"]
        program = loopwright.load(entry.text)[entry.function]
        values = entry.arguments("LARGE")
        sizes = program.signature.sizes_of(values).of(program.scop)
        context = SchedulingContext(sizes, 2)
        original = Schedule.original(program.scop)
        found = sample_schedules(Random(1), original, CANDIDATES, [])
        schedules = [sample.schedule for sample in found]
        start = process_time()
        model.predict(context, [original])
        once = process_time() - start
        with garbage_collected_seldom():
            start = process_time()
            for first in range(0, len(schedules), BATCH):
                model.predict(context, schedules[first : first + BATCH])
            rates.append(len(schedules) / (process_time() - start))
        print(f"{name:<14}{1e3 * once:>12.1f}{rates[-1]:>14.0f}", flush=True)
    print(f"{'median':<26}{median(rates):>14.0f}")
    rows = [*zip(options.kernels, map(round, rates), strict=True), ("median", round(median(rates)))]
    record.write(options.record, ("kernel", "schedules per second"), rows)


if __name__ == "__main__":
    main()
