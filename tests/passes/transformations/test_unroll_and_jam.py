"""Unroll-and-jam: where the copies of statements lie."""

from __future__ import annotations

import re

import numpy as np
import pytest

from loopwright.runtime.program import load

SUMS = """
func.func @f(%A: memref<12x9xf64>, %B: memref<9xf64>, %y: memref<12xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to 12 {
    affine.store %zero, %y[%i] : memref<12xf64>
    affine.for %k = 0 to 9 {
      %s = affine.load %y[%i] : memref<12xf64>
      %a = affine.load %A[%i, %k] : memref<12x9xf64>
      %b = affine.load %B[%k] : memref<9xf64>
      %p = arith.mulf %a, %b : f64
      %t = arith.addf %s, %p : f64
      affine.store %t, %y[%i] : memref<12xf64>
    }
    %s = affine.load %y[%i] : memref<12xf64>
    %n = arith.negf %s : f64
    affine.store %n, %y[%i] : memref<12xf64>
  }
  return
}
"""


@pytest.mark.parametrize("order", ["", "affine-schedule,", "affine-schedule{fusion=maximal},"])
@pytest.mark.parametrize("factor", [2, 3, 4])
def test_what_begins_and_ends_sums_stays_outside_of_their_loop(order: str, factor: int) -> None:
    """Also where affine scheduling runs it in the first and the last iteration."""
    (function,) = load(SUMS).values()
    kernel = function.compile(f"{order}unroll-and-jam{{loops=i factor={factor}}}")
    loops = re.findall(r"affine\.for %k\S* = 0 to 9 iter_args\((.*?)\)", kernel.loop_ir)
    assert loops and loops[0].count("=") == factor
    assert "affine.if" not in kernel.loop_ir
    generator = np.random.default_rng(1)
    a, b = generator.random((12, 9)), generator.random(9)
    y, expected = np.empty(12), np.empty(12)
    kernel(a, b, y)
    function.compile()(a, b, expected)
    np.testing.assert_array_equal(y, expected)
