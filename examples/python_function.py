"""A Python function as a kernel: check it against itself, then run and time it."""

from __future__ import annotations

import argparse

import numpy as np

import loopwright
from loopwright import f64


@loopwright.kernel
def smooth(steps: int, n: int, A: f64["n", "n"], B: f64["n", "n"]):
    """Jacobi smoothing of a plane, five points, on two alternating arrays."""
    for t in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i - 1, j] + A[i + 1, j])
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i - 1, j] + B[i + 1, j])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1000)
    size = parser.parse_args().size

    rng = np.random.default_rng(0)
    small = rng.random((12, 12))
    smooth.check(3, 12, small, small.copy())  # the kernel and plain Python agree

    plane = rng.random((size, size))
    smooth(10, size, plane, plane.copy())  # compiled for these shapes here
    assert plane.min() >= 0 and plane.max() <= 1

    kernel = smooth.compile(threads=2)
    print(kernel.time(10, size, plane, plane.copy(), budget=0.1))


if __name__ == "__main__":
    main()
