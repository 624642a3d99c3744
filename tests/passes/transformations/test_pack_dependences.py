"""What copies of packed arrays depend on."""

from __future__ import annotations

import pytest

import loopwright
from loopwright.passes.schedules.errors import MalformedTransformation
from loopwright.passes.transformations.pack import Pack
from loopwright.passes.transformations.parallel import Parallel

HUNDREDS_OF_PIECES = """
func.func @f(%N: index, %M: index, %A0: memref<?x?xi8>) {
  affine.for %i = -2 to 3 {
    affine.for %j = affine_map<(d0) -> (d0 - 1)>(%i) to %N step 2 {
      affine.for %k = affine_map<(d0) -> (d0 - 1)>(%j) to %M step 2 {
        affine.for %l = 2 to %M step 3 {
          %v1 = affine.load %A0[((%i * 3 + %M + 1) mod 5) + 1, %j * 2 + 6] : memref<?x?xi8>
          affine.store %v1, %A0[%k + 4, %l - 2] : memref<?x?xi8>
        }
      }
    }
  }
  return
}
"""


def test_dependences_in_hundreds_of_pieces_are_refused() -> None:
    """isl's `coalesce` ends the process at what the copies depend on."""
    schedule = loopwright.load(HUNDREDS_OF_PIECES)["f"].schedule("tile{loops=i sizes=7}")
    with pytest.raises(MalformedTransformation, match="too complex"):
        schedule.apply(Pack(("i",), array="A0", order=(1, 0)))


PRODUCT_OF_ALL = """
func.func @f(%n: index, %A: memref<i16>, %B: memref<?xi16>) {
  affine.for %k = 0 to %n {
    %0 = affine.load %A[] : memref<i16>
    %1 = affine.load %B[%k] : memref<?xi16>
    %2 = arith.muli %0, %1 : i16
    affine.store %2, %A[] : memref<i16>
  }
  return
}
"""


@pytest.mark.parametrize("before", ["", "reverse{loops=k},"])
def test_copies_of_what_is_accumulated_depend_on_each_other(before: str) -> None:
    """Steps that may change places become copies that may not, in the order that they have now."""
    schedule = loopwright.load(PRODUCT_OF_ALL)["f"].schedule(f"{before}pack{{loops=k array=A}}")
    assert not schedule.legal(Parallel(("k",)))
