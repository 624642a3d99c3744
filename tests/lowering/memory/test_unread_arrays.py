"""Local arrays that are only stored to go; those that are read stay."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright
from loopwright.lowering.generate import generate

TEXT = """
func.func @f(%A: memref<16xf32>, %B: memref<16xf32>) {
  %t = memref.alloca() : memref<16xf32>
  affine.for %i = 0 to 16 {
    %0 = affine.load %A[%i] : memref<16xf32>
    %1 = arith.addf %0, %0 : f32
    affine.store %1, %t[%i] : memref<16xf32>
    %2 = affine.load %t[READ] : memref<16xf32>
    affine.store %2, %B[%i] : memref<16xf32>
  }
  return
}
"""


@pytest.mark.parametrize("schedule", ["", "vectorize{loops=i width=8}"])
@pytest.mark.parametrize(("read", "is_gone"), [("%i", True), ("%i floordiv 2", False)])
def test_arrays_that_are_only_stored_to_go(schedule: str, read: str, is_gone: bool) -> None:
    function = loopwright.load(TEXT.replace("READ", read))["f"]
    if not is_gone:
        schedule = ""
    assert ("memref.alloc" not in str(generate(function.schedule(schedule), {}))) == is_gone
    a, b = np.arange(16, dtype="f4"), np.zeros(16, "f4")
    function.compile(schedule, verify=True)(a, b)
    places = np.arange(16) if is_gone else np.arange(16) // 2
    np.testing.assert_array_equal(b, 2 * a[places])
