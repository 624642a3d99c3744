"""Demonstration: optimises and runs a few real kernels and prints the speed-ups (`make demo`).

Each kernel runs unscheduled (as written, on one thread), with its default schedule, and as NumPy
code, in turns on the same arrays; the results are compared.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import loopwright
from loopwright.passes.machine.target import Target

os.environ["OPENBLAS_THREAD_TIMEOUT"] = "20"  # idle threads take cores from other versions
if "avx512f" in Target.host().features:  # before NumPy is loaded: see docs/reference/measuring.md
    os.environ["OPENBLAS_CORETYPE"] = "SkylakeX"

import numpy as np

from loopwright.kernels.catalogue import catalogue
from loopwright.kernels.references import REFERENCES

SETTLES = 0.02
"""Seconds until threads that wait for work have gone to sleep."""


@dataclass(frozen=True)
class Demonstration:
    """A kernel and its size."""

    kernel: str
    size: dict[str, int]


DEMONSTRATIONS = (
    Demonstration("polybench/gemm", {"ni": 1000, "nj": 1100, "nk": 1200}),
    Demonstration("polybench/jacobi-2d", {"tsteps": 100, "n": 1300}),
    Demonstration("tiramisu/box_blur", {"batch": 8, "channels": 3, "width": 1024, "height": 1024}),
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
        "default": program.compile(threads=threads),
        "NumPy": REFERENCES[demonstration.kernel],
    }
    seconds: dict[str, list[float]] = {name: [] for name in versions}
    outputs: dict[str, dict[str, np.ndarray]] = {}
    for repetition in range(repetitions + 1):
        for name, version in versions.items():
            arguments = entry.arguments(demonstration.size)
            time.sleep(SETTLES)
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
