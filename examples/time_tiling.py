"""A stencil in skewed tiles: those of a wavefront are independent and run in parallel."""

from __future__ import annotations

import argparse

import numpy as np

import loopwright
from loopwright.kernels.catalogue import catalogue

WAVEFRONTS = (
    "affine-schedule,tile{loops=t,i,j sizes=8,16,64},"
    "wavefront{loops=tt,it factors=1,1},parallel{loops=it}"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=400)
    size = parser.parse_args().size

    entry = catalogue()["polybench/jacobi-2d"]
    stencil = loopwright.load(entry.text)[entry.function]
    sizes = {"tsteps": 40, "n": size}
    seconds: dict[str, float] = {}
    results: dict[str, np.ndarray] = {}
    for name, schedule in {"as written": None, "wavefronts": WAVEFRONTS}.items():
        kernel = stencil.compile(schedule, threads=2)
        arguments = entry.arguments(sizes)
        kernel(*arguments)
        results[name] = arguments[-2]
        seconds[name] = kernel.time(*entry.arguments(sizes), budget=0.1).median
        print(f"{name:<12}{1e3 * seconds[name]:8.2f} ms")
    assert np.array_equal(*results.values()), "every sum in the same order"


if __name__ == "__main__":
    main()
