"""Load a kernel from text, compile it, call it on NumPy arrays, time it."""

from __future__ import annotations

import argparse

import numpy as np

import loopwright

TEXT = """
// y := alpha * A * x + y
func.func @matvec(%m: index, %n: index, %alpha: f64, %A: memref<?x?xf64>, %x: memref<?xf64>,
                  %y: memref<?xf64>) {
  affine.for %i = 0 to %m {
    affine.for %j = 0 to %n {
      %0 = affine.load %y[%i] : memref<?xf64>
      %1 = affine.load %A[%i, %j] : memref<?x?xf64>
      %2 = affine.load %x[%j] : memref<?xf64>
      %3 = arith.mulf %1, %2 : f64
      %4 = arith.mulf %alpha, %3 : f64
      %5 = arith.addf %0, %4 : f64
      affine.store %5, %y[%i] : memref<?xf64>
    }
  }
  return
}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1000)
    size = parser.parse_args().size

    kernel = loopwright.load(TEXT)["matvec"].compile()
    rng = np.random.default_rng(0)
    matrix, x, y = rng.random((size, size)), rng.random(size), np.zeros(size)
    kernel(size, size, 2.0, matrix, x, y)  # compiled for these shapes here
    assert np.allclose(y, 2.0 * matrix @ x)

    print(f"schedule: {kernel.schedule or 'as written'}")
    print(kernel.time(size, size, 2.0, matrix, x, y, budget=0.1))


if __name__ == "__main__":
    main()
