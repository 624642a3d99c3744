"""Optimises and runs a few real kernels and prints what it brought: `make demo`.

Each kernel runs unscheduled (as written), scheduled, and as NumPy code, in turns on the same
arrays; the results are compared.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")  # before NumPy: see docs/measuring.md

import numpy as np

import loopwright
from loopwright.kernels.catalogue import catalogue
from loopwright.kernels.references import REFERENCES


@dataclass(frozen=True)
class Demonstration:
    """A kernel, its size, and the schedule that we give it."""

    kernel: str
    size: dict[str, int]
    schedule: str


DEMONSTRATIONS = (
    Demonstration(
        "polybench/gemm",
        {"ni": 1000, "nj": 1100, "nk": 1200},
        "affine-schedule{fusion=minimal},parallel{loops=S0.i},vectorize{loops=S0.j},"
        "tile{loops=S1.i,S1.j,S1.k sizes=504,1104,256},interchange{loops=it,kt,jt},"
        "pack{loops=jt array=B order=1,0 panels=0,24},tile{loops=S1.i,S1.j sizes=8,24},"
        "interchange{loops=S1.k,S1.i,S1.j},interchange{loops=jt2,it2},"
        "unroll{loops=S1.i,S1.j},vectorize{loops=S1.j},parallel{loops=it}",
    ),
    Demonstration(
        "polybench/jacobi-2d",
        {"tsteps": 100, "n": 1300},
        "parallel{loops=S0.i,S1.i},vectorize{loops=S0.j,S1.j width=4}",
    ),
    Demonstration(
        "tiramisu/box_blur",
        {"batch": 8, "channels": 3, "width": 1024, "height": 1024},
        "parallel{loops=n,c},vectorize{loops=y}",
    ),
)


def main() -> None:
    """Prints one table row per kernel and version."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    print(f"{'kernel':<22}{'version':<14}{'ms':>9}{'GFLOP/s':>9}{'GB/s':>7}{'max. difference':>17}")
    for demonstration in DEMONSTRATIONS:
        run(demonstration, options.threads, options.repetitions)


def run(demonstration: Demonstration, threads: int, repetitions: int) -> None:
    """Measures the versions of one kernel in turns and prints their rows."""
    entry = catalogue()[demonstration.kernel]
    program = loopwright.load(entry.text)[entry.function]
    versions: dict[str, Callable[..., object]] = {
        "unscheduled": program.compile(None, threads=1),
        "scheduled": program.compile(schedule=demonstration.schedule, threads=threads),
        "NumPy": REFERENCES[demonstration.kernel],
    }
    seconds: dict[str, list[float]] = {name: [] for name in versions}
    outputs: dict[str, dict[str, np.ndarray]] = {}
    for repetition in range(repetitions + 1):
        for name, version in versions.items():
            arguments = entry.arguments(demonstration.size)
            start = time.perf_counter()
            version(*arguments)
            if repetition > 0:
                seconds[name].append(time.perf_counter() - start)
            outputs[name] = entry.output_arrays(arguments)
    flops, traffic = entry.flops(demonstration.size), entry.traffic(demonstration.size)
    for name, times in seconds.items():
        median = statistics.median(times)
        difference = max(
            float(np.max(np.abs(outputs[name][array] - outputs["NumPy"][array])))
            for array in entry.outputs
        )
        print(
            f"{demonstration.kernel:<22}{name:<14}{median * 1e3:>9.2f}{flops / median / 1e9:>9.1f}"
            f"{traffic / median / 1e9:>7.1f}{difference:>17.2e}",
            flush=True,
        )


if __name__ == "__main__":
    main()
