"""Conditions on loops that are unrolled: copies for which bounds decide have none."""

from __future__ import annotations

import numpy as np

import loopwright

# The second statement begins an iteration later than the first.
TEXT = """
func.func @f(%A: memref<40x100xf64>, %B: memref<40x100xf64>, %C: memref<40x100xf64>) {
  affine.for %i = 0 to 40 {
    affine.for %j = 1 to 99 {
      %a = affine.load %A[%i, %j - 1] : memref<40x100xf64>
      %b = affine.load %A[%i, %j + 1] : memref<40x100xf64>
      %c = arith.mulf %a, %b : f64
      affine.store %c, %B[%i, %j] : memref<40x100xf64>
    }
    affine.for %k = 2 to 99 {
      %d = affine.load %B[%i, %k] : memref<40x100xf64>
      %e = affine.load %B[%i, %k - 1] : memref<40x100xf64>
      %g = arith.subf %d, %e : f64
      affine.store %g, %C[%i, %k] : memref<40x100xf64>
    }
  }
  return
}
"""
FUSED = (
    "affine-schedule{fusion=maximal},strip-mine{loops=i size=8},vectorize{loops=i width=8},"
    "unroll{loops=j factor=8}"
)


def test_only_the_first_copy_asks() -> None:
    function = loopwright.load(TEXT)["f"]
    kernel = function.compile(FUSED, threads=1)
    arrays = [np.random.default_rng(1).standard_normal((3, 40, 100)) for _ in range(2)]
    kernel(*arrays[0])
    function.compile(None, threads=1)(*arrays[1])
    np.testing.assert_array_equal(*arrays)
    assert kernel.loop_ir.count("affine.if") <= 2, kernel.loop_ir
