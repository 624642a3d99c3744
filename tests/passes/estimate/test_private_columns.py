"""Estimate of private arrays: columns that lanes gather are others in each iteration."""

from __future__ import annotations

import pytest
from support.scops import schedule_of
from support.targets import WIDE

from loopwright.passes.estimate.estimate import estimate
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline

CHAIN = """
func.func @f(%T: memref<COUNTxNxNxf32>, %p: memref<COUNTxNxf32>, %q: memref<COUNTxNxf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %n = 0 to COUNT {
    %m = memref.alloca() : memref<NxNxf32>
    affine.for %i = 0 to N {
      affine.for %j = 0 to N {
        %s = affine.for %k = 0 to N iter_args(%a = %zero) -> (f32) {
          %0 = affine.load %T[%n, %k, %i] : memref<COUNTxNxNxf32>
          %1 = affine.load %T[%n, %k, %j] : memref<COUNTxNxNxf32>
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %a, %2 : f32
          affine.yield %3 : f32
        }
        affine.store %s, %m[%i, %j] : memref<NxNxf32>
      }
    }
    affine.for %i = 0 to N {
      %t = affine.for %k = 0 to N iter_args(%b = %zero) -> (f32) {
        %4 = affine.load %m[%i, %k] : memref<NxNxf32>
        %5 = affine.load %p[%n, %k] : memref<COUNTxNxf32>
        %6 = arith.mulf %4, %5 : f32
        %7 = arith.addf %b, %6 : f32
        affine.yield %7 : f32
      }
      affine.store %t, %q[%n, %i] : memref<COUNTxNxf32>
    }
  }
  return
}
"""


@pytest.mark.parametrize("n", [3, 4])
def test_gathered_columns_cost_more_than_rows(n: int) -> None:
    text = CHAIN.replace("COUNT", "4000").replace("N", str(n))
    original = Schedule.original(schedule_of(text).scop, WIDE)

    def seconds(pipeline: str) -> float:
        return estimate(original.apply_all(parse_pipeline(pipeline)), SchedulingContext({}, 1))

    rows = seconds("vectorize{loops=j width=4}")
    assert seconds("vectorize{loops=j width=4},vectorize{loops=S2.i width=4}") > 1.2 * rows
    # Short loops that are unrolled are packed by LLVM, if not as well.
    assert seconds("") < 2.5 * rows
