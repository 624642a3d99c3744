"""Buffers of buffers: what nobody reads need not be right."""

from __future__ import annotations

from support.scops import schedule_of
from support.validation import verdict

from loopwright.passes.syntax.formats import apply_text

SHIFT = """
func.func @shift(%N: index, %A: memref<?xf64>) {
  affine.for %i = -3 to %N {
    affine.for %j = -3 to min affine_map<(d0)[s0] -> (s0, d0)>(%i)[%N] {
      affine.for %k = affine_map<(d0) -> (d0 - 1)>(%j) to affine_map<()[s0] -> (s0 + 1)>()[%N] {
        %a = affine.load %A[%j * 2 + 6] : memref<?xf64>
        %b = affine.load %A[-%k + %N + 1] : memref<?xf64>
        %c = arith.addf %a, %b : f64
        affine.store %c, %A[%j + 3] : memref<?xf64>
      }
    }
  }
  return
}
"""


def test_a_packed_array_that_is_packed_where_it_is_filled() -> None:
    """What is copied in first has not been written, and is overwritten: no violation."""
    steps = "pack{loops=i array=A},pack{loops=i array=A_packed order=1,0}"
    found = verdict(apply_text(steps, schedule_of(SHIFT)), {"N": 3})
    assert found.violation is None
