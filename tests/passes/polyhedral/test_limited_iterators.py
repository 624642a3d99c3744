"""Which iterators have values that depend on those of others."""

import islpy as isl
import numpy as np
import pytest

import loopwright
from loopwright.passes.polyhedral.limited_iterators import limits

SETS = {
    "box": ("{ [i, j] : 0 <= i < 8 and 0 <= j < 9 }", {}),
    "triangle": ("{ [i, j, k] : 0 <= i <= k < 8 and 0 <= j < 9 }", {0: {2}, 2: {0}}),
    "stride": (
        "{ [i, j] : 0 <= i < 8 and exists e : j = 2 e + i and 0 <= j < 9 }",
        {0: {1}, 1: {0}},
    ),
}


@pytest.mark.parametrize("name", SETS)
def test_limits(name: str) -> None:
    text, expected = SETS[name]
    assert limits(isl.Set(text)) == expected


NEVER = """
func.func @never(%A: memref<i8>) {
  affine.for %i = -3 to 6 {
    affine.for %j = 2 to affine_map<(d0) -> (d0)>(%i) {
      affine.for %k = affine_map<(d0) -> (d0 + 1)>(%i) to 9 {
        affine.for %l = affine_map<(d0) -> (d0)>(%j) to 1 {
          %0 = affine.load %A[] : memref<i8>
          %1 = arith.subi %0, %0 : i8
          affine.store %1, %A[] : memref<i8>
        }
      }
    }
  }
  affine.for %i = 0 to 6000 {
    %0 = affine.load %A[] : memref<i8>
    affine.store %0, %A[] : memref<i8>
  }
  return
}
"""


def test_statements_that_never_run_have_no_limits() -> None:
    """isl finds out late that their domain has no points."""
    (function,) = loopwright.load(NEVER).values()
    value = np.array(5, np.int8)
    function.compile(function.default_schedule({}, threads=2))(value)
    assert value == 5
