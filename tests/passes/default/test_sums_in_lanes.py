"""Partial results for lanes: reductions over short rows of several."""

from __future__ import annotations

import numpy as np
import pytest
from support.scops import schedule_of

import loopwright
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.default.sums_in_lanes import sums_in_lanes
from loopwright.passes.estimate.estimate import estimate
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import nests
from loopwright.passes.schedules.schedule import Schedule

GROUPS = """
func.func @f(%x: memref<2x2048x6xCHANNELSxTYPE>, %s: memref<2x6xTYPE>) {
  affine.for %n = 0 to 2 {
    affine.for %g = 0 to 6 {
      affine.for %p = 0 to 2048 {
        affine.for %c = 0 to CHANNELS {
          %m = affine.load %s[%n, %g] : memref<2x6xTYPE>
          %a = affine.load %x[%n, %p, %g, %c] : memref<2x2048x6xCHANNELSxTYPE>
          %t = arith.addf %m, %a : TYPE
          affine.store %t, %s[%n, %g] : memref<2x6xTYPE>
        }
      }
    }
  }
  return
}
"""
WIDE = Target.named("sapphirerapids")


def original_of(channels: int, kind: str = "f32", *, reassociate: bool = True) -> Schedule:
    text = GROUPS.replace("CHANNELS", str(channels)).replace("TYPE", kind)
    return Schedule.original(schedule_of(text).scop, WIDE, reassociate=reassociate)


def context_of(schedule: Schedule) -> SchedulingContext:
    return SchedulingContext(infer_extents(schedule.scop, {}), 2)


@pytest.mark.parametrize(
    ("channels", "kind", "is_answered"),
    [
        *((16, "f32", True), (8, "f64", True), (32, "f64", True)),
        # No whole vectors, or more than stay in registers.
        *((8, "f32", False), (20, "f32", False), (80, "f32", False)),
    ],
)
def test_rows_of_whole_vectors(channels: int, kind: str, is_answered: bool) -> None:
    original = original_of(channels, kind)
    (nest,) = nests(original.tree)
    found = sums_in_lanes(original, nest, context_of(original))
    assert str(found) == ("rfactor{loops=c},parallel{loops=n}" if is_answered else "None")


def test_the_order_of_terms_is_kept() -> None:
    original = original_of(16, reassociate=False)
    (nest,) = nests(original.tree)
    assert sums_in_lanes(original, nest, context_of(original)) is None


def test_lanes_that_are_added_up_in_each_row_take_longer() -> None:
    original = original_of(16)
    context = context_of(original)
    (nest,) = nests(original.tree)
    found = sums_in_lanes(original, nest, context)
    assert found is not None
    assert estimate(found, context) < 0.5 * estimate(original, context)


def test_results() -> None:
    original = original_of(16)
    chosen = default_schedule(original.scop, {}, WIDE, threads=2, reassociate=True)
    assert "rfactor{loops=c}" in str(chosen)
    text = GROUPS.replace("CHANNELS", "16").replace("TYPE", "f32")
    rows = np.random.default_rng(5).standard_normal((2, 2048, 6, 16)).astype(np.float32)
    sums = np.ones((2, 6), np.float32)
    function = loopwright.load(text)["f"]
    function.compile(str(chosen), threads=2, fast_math=True, verify=True)(rows, sums)
    np.testing.assert_allclose(sums, 1 + rows.astype(float).sum(axis=(1, 3)), rtol=1e-4)
