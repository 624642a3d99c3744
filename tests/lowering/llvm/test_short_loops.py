"""Which loops LLVM is told to make no vectors along."""

from __future__ import annotations

import numpy as np
import pytest

from loopwright.runtime.program import load

COPY = """
func.func @copy(%A: memref<40x40xf64>, %B: memref<40x40xf64>) {{
  {outer} {{
    affine.for %j = 0 to {inner} {{
      %a = affine.load %A[{place}] : memref<40x40xf64>
      %b = arith.mulf %a, %a : f64
      affine.store %b, %B[{place}] : memref<40x40xf64>
    }}
  }}
  return
}}
"""
FOR = "affine.for %i = 0 to 14"
PARALLEL = "affine.parallel (%i) = (0) to (14)"
SUMS = """
func.func @copy(%A: memref<40x40xf64>, %B: memref<40x40xf64>) {
  affine.for %i = 0 to 40 {
    affine.for %j = 0 to 14 {
      %a = affine.load %A[%i, %j] : memref<40x40xf64>
      %b = affine.load %B[%i, 0] : memref<40x40xf64>
      %c = arith.addf %a, %b : f64
      affine.store %c, %B[%i, 0] : memref<40x40xf64>
    }
  }
  return
}
"""
HINT = "llvm.loop.vectorize.enable"


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("outer", "inner", "place", "is_told"),
    [
        (FOR, "14", "%i, %j", True),
        (PARALLEL, "14", "%i, %j", True),
        (FOR, "14", "2 * %i + 3, %j", True),
        (FOR, "14", "%i floordiv 2, %j", True),
        (FOR, "14 step 2", "%i, %j floordiv 2", False),
        # By eight elements, they do not follow each other along the inner loop either.
        (FOR, "40 step 8", "%i, %j", False),
        # Along the outer loop, they follow each other.
        (FOR, "14", "%j, %i", False),
        (PARALLEL, "14", "%j, %i", False),
        # Too short for vectors.
        (FOR, "3", "%i, %j", False),
    ],
)
def test_the_loop_around_a_short_one(
    outer: str, inner: str, place: str, is_told: bool, threads: int
) -> None:
    (function,) = load(COPY.format(outer=outer, inner=inner, place=place)).values()
    kernel = function.compile(threads=threads, schedule="")
    source, target = np.random.default_rng(0).random((40, 40)), np.zeros((40, 40))
    kernel(source, target)
    written = target != 0
    assert written.any()
    np.testing.assert_array_equal(target[written], (source * source)[written])
    assert (HINT in kernel.llvm_ir) == is_told


def test_sums_along_the_short_loop() -> None:
    (function,) = load(SUMS).values()
    kernel = function.compile(threads=1, schedule="")
    source, target = np.random.default_rng(0).random((40, 40)), np.zeros((40, 40))
    kernel(source, target)
    np.testing.assert_allclose(target[:, 0], source[:, :14].sum(axis=1))
    assert HINT in kernel.llvm_ir
