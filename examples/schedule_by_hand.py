"""Three schedules of a matrix product side by side: each is legal, and computes the same."""

from __future__ import annotations

import argparse

import numpy as np

import loopwright
from loopwright.kernels.catalogue import catalogue

SCHEDULES = {
    "as written": "",
    "tiled, in vectors": (
        "distribute{loops=i},tile{loops=S1.i,k,S1.j sizes=32,64,128},vectorize{loops=S1.j width=4}"
    ),
    "register tile": (
        "distribute{loops=i},interchange{loops=S1.i,S1.j,k},tile{loops=S1.i,S1.j sizes=4,8},"
        "interchange{loops=k,S1.i,S1.j},unroll{loops=S1.i,S1.j},vectorize{loops=S1.j width=4}"
    ),
}
"""In the last one, `k` goes between the tile loops and a block of C that stays in registers."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=256)
    size = parser.parse_args().size

    gemm = loopwright.load(catalogue()["polybench/gemm"].text)["gemm"]
    rng = np.random.default_rng(0)
    a, b, c = (rng.random((size, size)) for _ in range(3))
    expected = 1.5 * a @ b + 1.2 * c
    for name, text in SCHEDULES.items():
        schedule = gemm.schedule(text)
        kernel = gemm.compile(schedule, threads=1)
        result = c.copy()
        kernel(size, size, size, 1.5, 1.2, result, a, b)
        assert np.allclose(result, expected)
        timing = kernel.time(size, size, size, 1.5, 1.2, result, a, b, budget=0.1)
        print(f"{name:<20}{2 * size**3 / timing.median / 1e9:8.1f} GFLOP/s")


if __name__ == "__main__":
    main()
