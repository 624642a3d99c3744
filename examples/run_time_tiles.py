"""One compilation for many tile sizes: the sizes are arguments of the kernel."""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np

import loopwright
from loopwright.kernels.catalogue import catalogue

TILING = "distribute{loops=i},tile{loops=S1.i,k sizes=Ti,Tk},vectorize{loops=S1.j width=4}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=256)
    size = parser.parse_args().size

    gemm = loopwright.load(catalogue()["polybench/gemm"].text)["gemm"]
    kernel = gemm.compile(TILING, threads=1)
    rng = np.random.default_rng(0)
    a, b, c = (rng.random((size, size)) for _ in range(3))
    expected = a @ b + c
    times: dict[tuple[int, int], float] = {}
    for ti, tk in product((8, 32, 128), repeat=2):
        result = c.copy()
        kernel(size, size, size, 1.0, 1.0, result, a, b, Ti=ti, Tk=tk)
        assert np.allclose(result, expected)
        timing = kernel.time(size, size, size, 1.0, 1.0, result, a, b, Ti=ti, Tk=tk, budget=0.05)
        times[ti, tk] = timing.min
        print(f"Ti={ti:<5}Tk={tk:<5}{1e3 * timing.min:8.3f} ms")
    print("fastest: Ti={}, Tk={}".format(*min(times, key=lambda sizes: times[sizes])))


if __name__ == "__main__":
    main()
