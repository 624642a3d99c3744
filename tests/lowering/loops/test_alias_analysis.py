"""What loops and conditions say about where loads and stores go."""

from __future__ import annotations

import pytest
from xdsl.dialects import affine

from loopwright.dialects.parse import parse_module
from loopwright.lowering.loops.alias_analysis import Numbering

LAST_STRIP = """
func.func @f(%A: memref<1024x1024xf64>) {
  affine.for %kt = 0 to 15 {
   affine.for %jt = affine_map<(d0) -> (d0 + 1)>(%kt) to 15 {
      affine.if affine_set<(d0) : (d0 - STRIP == 0)>(%jt) {
     affine.for %k = affine_map<(d0) -> (d0 * 72)>(%kt) to affine_map<(d0) -> (d0 * 72 + 72)>(%kt) {
          %0 = affine.load %A[5, %k] : memref<1024x1024xf64>
          affine.store %0, %A[5, 1008] : memref<1024x1024xf64>
        }
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize(("strip", "disjoint"), [(14, True), (15, False)])
def test_bounds_of_a_loop_whose_variable_is_known(strip: int, disjoint: bool) -> None:
    """In strip 14 of columns, terms are in earlier ones: they are no elements of the result."""
    module = parse_module(LAST_STRIP.replace("STRIP", str(strip)))
    load, store = (
        next(op for op in module.walk() if isinstance(op, kind))
        for kind in (affine.LoadOp, affine.StoreOp)
    )
    numbering = Numbering()
    numbering.go_to(load)
    places = [numbering.place(operation) for operation in (load, store)]
    assert places[0] is not None and places[1] is not None
    assert numbering.is_disjoint(places[0], places[1]) == disjoint
