"""Short rows of a local array, updated in place: no vectors under masks, which wait for memory."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.schedule_tree import loops

TYPES = {"f32": np.float32, "f64": np.float64}

INVERSES = """
func.func @f(%A: memref<6000xNxNxTYPE>, %B: memref<6000xNxNxTYPE>) {
  %one = arith.constant 1.0 : TYPE
  %zero = arith.constant 0.0 : TYPE
  affine.for %b = 0 to 6000 {
    %m = memref.alloca() : memref<NxWIDExTYPE>
    affine.for %i = 0 to N {
      affine.for %j = 0 to N {
        %0 = affine.load %A[%b, %i, %j] : memref<6000xNxNxTYPE>
        affine.store %0, %m[%i, %j] : memref<NxWIDExTYPE>
        affine.store %zero, %m[%i, %j + N] : memref<NxWIDExTYPE>
      }
      affine.store %one, %m[%i, %i + N] : memref<NxWIDExTYPE>
    }
    affine.for %k = 0 to N {
      %1 = affine.load %m[%k, %k] : memref<NxWIDExTYPE>
      %2 = arith.divf %one, %1 : TYPE
      affine.for %j = 0 to WIDE {
        %3 = affine.load %m[%k, %j] : memref<NxWIDExTYPE>
        %4 = arith.mulf %3, %2 : TYPE
        affine.store %4, %m[%k, %j] : memref<NxWIDExTYPE>
      }
      affine.for %i = 0 to N {
        affine.if affine_set<(d0, d1) : (d0 - d1 - 1 >= 0)>(%i, %k) {
          %5 = affine.load %m[%i, %k] : memref<NxWIDExTYPE>
          affine.for %j = 0 to WIDE {
            %6 = affine.load %m[%k, %j] : memref<NxWIDExTYPE>
            %7 = affine.load %m[%i, %j] : memref<NxWIDExTYPE>
            %8 = arith.mulf %5, %6 : TYPE
            %9 = arith.subf %7, %8 : TYPE
            affine.store %9, %m[%i, %j] : memref<NxWIDExTYPE>
          }
        }
      }
    }
    affine.for %i = 0 to N {
      affine.for %j = 0 to N {
        %10 = affine.load %m[%i, %j + N] : memref<NxWIDExTYPE>
        affine.store %10, %B[%b, %i, %j] : memref<6000xNxNxTYPE>
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(("size", "is_masked"), [(3, True), (4, False)])
def test_rows_under_masks_stay_as_written(kind: str, size: int, is_masked: bool) -> None:
    """Rows that fill vectors are vectors: LLVM keeps these in registers."""
    text = INVERSES.replace("WIDE", str(2 * size)).replace("TYPE", kind).replace("N", str(size))
    (function,) = loopwright.load(text).values()
    schedule = default_schedule(function.scop, {}, Target.named("zen4"), threads=1)
    vectors = [loop for loop in loops(schedule.tree) if loop.vector is not None]
    inside = [loop for loop in vectors if "b" not in loop.name]
    assert not (is_masked and inside)
    rng = np.random.default_rng(0)
    matrices = (rng.random((6000, size, size)) + 2 * np.eye(size)).astype(TYPES[kind])
    expected, found = np.zeros_like(matrices), np.zeros_like(matrices)
    function.compile(None, threads=1)(matrices, expected)
    function.compile(schedule, threads=1, verify=True)(matrices, found)
    np.testing.assert_array_equal(found, expected)
