"""Which loops LLVM is told to make no vectors along."""

from __future__ import annotations

import numpy as np
import pytest

from loopwright.runtime.program import load

COPY = """
func.func @copy(%A: memref<40x{n}xf64>, %B: memref<40x{n}xf64>) {{
  {outer}
    affine.for %j = 0 to {n} {{
      %a = affine.load %A[{place}] : memref<40x{n}xf64>
      %b = arith.mulf %a, %a : f64
      affine.store %b, %B[{place}] : memref<40x{n}xf64>
    }}
  }}
  return
}}
"""
SEQUENTIAL, PARALLEL = "affine.for %i = 0 to 14 {", "affine.parallel (%i) = (0) to (14) {"


@pytest.mark.parametrize(
    ("outer", "n", "place", "is_told"),
    [
        (SEQUENTIAL, 14, "%i, %j", True),
        (PARALLEL, 14, "%i, %j", True),
        (SEQUENTIAL, 14, "2 * %i + 3, %j", True),
        # Along the outer loop, they follow each other.
        (SEQUENTIAL, 14, "%j, %i", False),
        (SEQUENTIAL, 14, "%i, 1 - %j + %j", False),
        # Too short for vectors.
        (SEQUENTIAL, 3, "%i, %j", False),
    ],
)
def test_the_loop_around_a_short_one(outer: str, n: int, place: str, is_told: bool) -> None:
    (function,) = load(COPY.format(outer=outer, n=n, place=place)).values()
    kernel = function.compile(threads=1, schedule="")
    random = np.random.default_rng(0)
    source, target = random.random((40, n)), np.zeros((40, n))
    kernel(source, target)
    assert target.any()
    written = target != 0
    np.testing.assert_array_equal(target[written], (source * source)[written])
    assert ("llvm.loop.vectorize.enable" in kernel.llvm_ir) == is_told
