"""Masks of vectors in front of the loops that do not change them, once for all that are equal."""

from __future__ import annotations

import loopwright
from loopwright.lowering.generate import generate

# Rows of 7 in vectors of 8, and of a number of elements that only a call tells.
SUM = """
func.func @f(%n: index, %A: memref<64x?xf32>, %x: memref<64xf32>, %C: memref<?xf32>) {
  affine.for %j = 0 to %n {
    affine.for %k = 0 to 64 {
      %c = affine.load %C[%j] : memref<?xf32>
      %a = affine.load %A[%k, %j] : memref<64x?xf32>
      %b = affine.load %x[%k] : memref<64xf32>
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %c, %p : f32
      affine.store %s, %C[%j] : memref<?xf32>
    }
  }
  return
}
"""


def loop_ir(schedule: str, n: int) -> str:
    sizes = {"n": n, "A_dim1": n, "C_dim0": n}
    return str(generate(loopwright.load(SUM)["f"].schedule(schedule), sizes))


def test_short_rows_stay_in_a_register() -> None:
    text = loop_ir("vectorize{loops=j width=8}", 7)
    assert text.count("vector.create_mask") == 1
    before, inside = text.split("affine.for %k")
    assert "vector.create_mask" in before and "vector.maskedload %C" in before
    loop, behind = inside.split("affine.yield")
    assert "%C" not in loop and "vector.maskedstore %C" in behind


def test_no_loop_of_no_full_vectors() -> None:
    assert "affine.for %j" not in loop_ir("vectorize{loops=j width=8}", 7)


TWO_WIDTHS = """
func.func @f(%A: memref<35xf32>, %B: memref<35xf32>) {
  affine.for %i = 0 to 35 {
    %0 = affine.load %A[%i] : memref<35xf32>
    affine.store %0, %B[%i] : memref<35xf32>
  }
  affine.for %j = 0 to 35 {
    %1 = affine.load %B[%j] : memref<35xf32>
    affine.store %1, %A[%j] : memref<35xf32>
  }
  return
}
"""


def test_masks_of_other_lanes_are_others() -> None:
    schedule = loopwright.load(TWO_WIDTHS)["f"].schedule(
        "vectorize{loops=i width=8},vectorize{loops=j width=16}"
    )
    function = generate(schedule, {})
    function.verify()
    masks = [op for op in function.walk() if op.name == "vector.create_mask"]
    assert sorted(str(mask.results[0].type) for mask in masks) == [
        "vector<16xi1>",
        "vector<8xi1>",
    ]
