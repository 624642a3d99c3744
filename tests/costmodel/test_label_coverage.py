"""What labels hardly have: the analytical choice stands then, and models are not asked."""

from __future__ import annotations

import pytest

import loopwright
from loopwright.costmodel.label_coverage import DIVERGENT_LANES, rare_steps
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.syntax.pipeline import parse_pipeline

WINDOWS = """
func.func @f(%A: memref<100x1000xf32>, %B: memref<100x1000xf32>) {
  affine.for %t = 0 to 100 {
    affine.for %i = 0 to 1000 {
      affine.for %k = LOWER to 7 {
        %0 = affine.load %B[%t, %i] : memref<100x1000xf32>
        %1 = affine.load %A[%k, %i] : memref<100x1000xf32>
        %2 = arith.addf %0, %1 : f32
        affine.store %2, %B[%t, %i] : memref<100x1000xf32>
      }
    }
  }
  return
}
"""
BORDERED = "max affine_map<(d0) -> (0, 3 - d0)>(%i)"


@pytest.mark.parametrize(
    ("lower", "steps", "rare"),
    [
        (BORDERED, "vectorize{loops=i width=8}", (DIVERGENT_LANES,)),
        (BORDERED, "parallel{loops=t},interchange{loops=k,i}", ()),
        (BORDERED, "unroll{loops=k}", ()),
        ("0", "vectorize{loops=i width=8}", ()),
        ("0", "split{loops=i at=9},vectorize{loops=S0.i width=8}", ("split",)),
    ],
)
def test_rare_steps(lower: str, steps: str, rare: tuple[str, ...]) -> None:
    function = loopwright.load(WINDOWS.replace("LOWER", lower))["f"]
    schedule = function.schedule().apply_all(parse_pipeline(steps))
    assert rare_steps(schedule, SchedulingContext({}, 1)) == rare
