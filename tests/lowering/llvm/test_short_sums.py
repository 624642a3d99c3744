"""Sums of a varying, but always small, number of terms: vectors of their terms, or none."""

from __future__ import annotations

import re

import numpy as np
import pytest
from support.llvm_code import llvm_ir
from support.targets import WIDE

from loopwright.passes.machine.target import Target
from loopwright.runtime.program import load

HINT = "llvm.loop.vectorize.enable"

SHORT_SUMS = """
func.func @factor(%A: memref<8xCOUNTxCOUNTxf64>) {
  affine.for %b = 0 to 8 {
    affine.for %i = 0 to COUNT {
      affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) {
        affine.for %k = 0 to affine_map<(d0) -> (d0)>(%j) {
          %0 = affine.load %A[%b, %i, %j] : memref<8xCOUNTxCOUNTxf64>
          %1 = affine.load %A[%b, %i, %k] : memref<8xCOUNTxCOUNTxf64>
          %2 = affine.load %A[%b, %j, %k] : memref<8xCOUNTxCOUNTxf64>
          %3 = arith.mulf %1, %2 : f64
          %4 = arith.subf %0, %3 : f64
          affine.store %4, %A[%b, %i, %j] : memref<8xCOUNTxCOUNTxf64>
        }
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize(("count", "masked"), [(15, False), (16, False), (200, True)])
def test_short_sums_of_varying_length_stay_scalar(count: int, masked: bool) -> None:
    (function,) = load(SHORT_SUMS.replace("COUNT", str(count))).values()
    # On Intel's processors LLVM takes the eight batches as lanes, with scatters.
    has = Target.host().features.issuperset
    zen = next((t for t in map(Target.named, ("zen4", "zen3")) if has(t.features)), None)
    kernel = function.compile("parallel{loops=b}", threads=1, fast_math=True, target=zen)
    a = 0.1 * np.random.default_rng(0).random((8, count, count))
    expected = a.copy()
    for i in range(count):
        for j in range(i):
            expected[:, i, j] -= np.sum(expected[:, i, :j] * expected[:, j, :j], axis=1)
    kernel(a)
    np.testing.assert_allclose(a, expected, rtol=1e-10)
    assert bool(re.search("[yz]mm", kernel.assembly)) == masked


TRIANGULAR_PRODUCTS = """
func.func @products(%L: memref<8xCOUNTxCOUNTxf64>, %x: memref<8xCOUNTxf64>,
                    %y: memref<8xCOUNTxf64>) {
  affine.for %b = 0 to 8 {
    affine.for %i = 0 to COUNT {
      affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) {
        %0 = affine.load %y[%b, %i] : memref<8xCOUNTxf64>
        %1 = affine.load %L[%b, %i, %j] : memref<8xCOUNTxCOUNTxf64>
        %2 = affine.load %x[%b, %j] : memref<8xCOUNTxf64>
        %3 = arith.mulf %1, %2 : f64
        %4 = arith.addf %0, %3 : f64
        affine.store %4, %y[%b, %i] : memref<8xCOUNTxf64>
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize("fast_math", [False, True])
@pytest.mark.parametrize("count", [15, 16, 31])
def test_terms_of_short_sums_that_nobody_has_just_stored(count: int, fast_math: bool) -> None:
    """No vector waits for scalars; in order, each addition would wait for the one before."""
    (function,) = load(TRIANGULAR_PRODUCTS.replace("COUNT", str(count))).values()
    kernel = function.compile("parallel{loops=b}", threads=1, fast_math=fast_math)
    rng = np.random.default_rng(0)
    matrix, x, y = rng.random((8, count, count)), rng.random((8, count)), np.zeros((8, count))
    kernel(matrix, x, y)
    np.testing.assert_allclose(y, np.einsum("bij,bj->bi", np.tril(matrix), x))
    assert (HINT in llvm_ir(function, "parallel{loops=b}", WIDE, fast_math=fast_math)) == (
        not fast_math
    )
