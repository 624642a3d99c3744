"""Rows that are summed up and then scaled: what memory bounds stays as written, and shared out."""

from __future__ import annotations

import pytest
from support.targets import NARROW, WIDE

from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.estimate.estimate import estimate
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.scop import Scop
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline
from loopwright.runtime.program import load

ROWS = """
func.func @f(%n: index, %m: index, %x: memref<?x?xTYPE>, %y: memref<?x?xTYPE>) {
  %zero = arith.constant 0.0 : TYPE
  %one = arith.constant 1.0 : TYPE
  affine.for %ROW = 0 to %n {
    %sum = affine.for %j = 0 to %m iter_args(%s = %zero) -> (TYPE) {
      %0 = affine.load %x[%ROW, %j] : memref<?x?xTYPE>
      %1 = arith.mulf %0, %0 : TYPE
      %2 = arith.addf %s, %1 : TYPE
      affine.yield %2 : TYPE
    }
    %scale = arith.divf %one, %sum : TYPE
    affine.for %j = 0 to %m {
      %3 = affine.load %x[%ROW, %j] : memref<?x?xTYPE>
      %4 = arith.mulf %3, %scale : TYPE
      affine.store %4, %y[%ROW, %j] : memref<?x?xTYPE>
    }
  }
  return
}
"""
PACKED = (
    "affine-schedule{fusion=maximal},strip-mine{loops=i size=16},pack{loops=it array=x order=1,0},"
    "interchange{loops=x1,x0},vectorize{loops=x0 width=16},unroll{loops=x1 factor=8},"
    "vectorize{loops=i width=16}"
)


def scop_of(kind: str = "f32", row: str = "i") -> Scop:
    return load(ROWS.replace("TYPE", kind).replace("ROW", row))["f"].scop


@pytest.mark.parametrize("target", [WIDE, NARROW, Target.named("sapphirerapids")])
@pytest.mark.parametrize(("kind", "row"), [("f32", "i"), ("f64", "sample")])
@pytest.mark.parametrize(("n", "m"), [(2048, 768), (511, 4001), (6000, 520)])
def test_with_sums_in_any_order(n: int, m: int, kind: str, row: str, target: Target) -> None:
    found = default_schedule(
        scop_of(kind, row), {"n": n, "m": m}, target, threads=2, reassociate=True
    )
    assert str(found) == f"parallel{{loops={row}}}"


@pytest.mark.parametrize(("n", "m"), [(2048, 768), (511, 4001)])
def test_packed_rows_come_from_memory_as_well(n: int, m: int) -> None:
    original = Schedule.original(scop_of(), WIDE, reassociate=True)
    context = SchedulingContext(infer_extents(original.scop, {"n": n, "m": m}), 1)
    packed = original.apply_all(parse_pipeline(PACKED))
    assert estimate(packed, context) > 4 * n * m / WIDE.bandwidths[2]
    assert estimate(packed, context) > estimate(original, context)
