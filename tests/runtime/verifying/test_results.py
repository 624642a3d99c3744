"""What a kernel computes: written arrays and results, of copies."""

from __future__ import annotations

import numpy as np

import loopwright
from loopwright.runtime.verifying.results import results_of

PROGRAM = """
func.func @f(%A: memref<3xf64>, %B: memref<3xf64>) -> f64 {
  %two = arith.constant 2.0 : f64
  affine.for %i = 0 to 3 {
    %a = affine.load %A[%i] : memref<3xf64>
    %b = arith.mulf %a, %two : f64
    affine.store %b, %B[%i] : memref<3xf64>
  }
  %last = affine.load %B[2] : memref<3xf64>
  return %last : f64
}
"""


def test_written_arrays_and_results_are_found_and_arguments_stay() -> None:
    a, b = np.arange(3.0), np.zeros(3)
    found = results_of(loopwright.load(PROGRAM)["f"].compile(None), [a, b])
    assert list(found) == ["B", "result 1"]
    np.testing.assert_array_equal(found["B"], 2 * a)
    assert found["result 1"] == 4.0
    assert not b.any()
