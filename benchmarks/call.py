"""Call overhead from Python over the machine code, for a kernel with five arrays.

Usage: python benchmarks/call.py

Medians over several runs of `kernel(*args)` less a call of an empty Python function, in
microseconds; the loop itself, over eight elements, takes a few nanoseconds.
"""

from __future__ import annotations

import statistics
import timeit
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch

import loopwright

CALLS = 5000
RUNS = 15

TEXT = """
func.func @sum_of_four(%n: index, %alpha: f64, %a: memref<?xf64>, %b: memref<?xf64>,
                       %c: memref<?xf64>, %d: memref<?xf64>, %e: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %0 = affine.load %a[%i] : memref<?xf64>
    %1 = affine.load %b[%i] : memref<?xf64>
    %2 = affine.load %c[%i] : memref<?xf64>
    %3 = affine.load %d[%i] : memref<?xf64>
    %4 = arith.addf %0, %1 : f64
    %5 = arith.addf %2, %3 : f64
    %6 = arith.addf %4, %5 : f64
    %7 = arith.mulf %alpha, %6 : f64
    affine.store %7, %e[%i] : memref<?xf64>
  }
  return
}
"""


def main() -> None:
    """Prints one row per kind of array."""
    kernel = loopwright.load(TEXT)["sum_of_four"].compile()
    kinds = {
        "NumPy": [np.ones(8) for _ in range(5)],
        "torch": [torch.ones(8, dtype=torch.float64) for _ in range(5)],
    }
    for name, given in kinds.items():
        arguments = [8, 2.0, *given]
        cost = _microseconds(kernel, arguments) - _microseconds(_nothing, arguments)
        print(f"{name:<8}{cost:6.2f} us")


def _nothing(*_: object) -> None:
    pass


def _microseconds(function: Callable[..., object], arguments: Sequence[object]) -> float:
    timer = timeit.Timer(partial(function, *arguments))
    timer.timeit(CALLS)
    return 1e6 * statistics.median(timer.repeat(RUNS, CALLS)) / CALLS


if __name__ == "__main__":
    main()
