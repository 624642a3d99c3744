"""Masks of vectors in front of the loops that do not change them, once for all that are equal."""

from __future__ import annotations

import numpy as np
import pytest

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


TWO_ROWS = """
func.func @rows(%m: index, %n: index, %A: memref<?x?xf32>, %B: memref<?x?xf32>) {
  affine.for %i = 0 to %m {
    affine.for %j = 0 to %n {
      %0 = affine.load %A[%i, %j] : memref<?x?xf32>
      %1 = arith.addf %0, %0 : f32
      affine.store %1, %B[%i, %j] : memref<?x?xf32>
    }
    affine.for %j = 0 to %n {
      %0 = affine.load %B[%i, %j] : memref<?x?xf32>
      %1 = arith.mulf %0, %0 : f32
      affine.store %1, %B[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
"""


@pytest.mark.parametrize("widths", [(16, 8), (8, 16), (8, 8)])
def test_masks_of_two_widths_beside_each_other(widths: tuple[int, int]) -> None:
    steps = ",".join(
        f"vectorize{{loops=S{number}.j width={width}}}" for number, width in enumerate(widths)
    )
    rows, columns = 3, 23
    given = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
    result = np.zeros_like(given)
    kernel = loopwright.load(TWO_ROWS)["rows"].compile(steps, threads=1)
    kernel(rows, columns, given, result)
    np.testing.assert_array_equal(result, 4 * given * given)


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
