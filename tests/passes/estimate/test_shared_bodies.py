"""Statements in the same loops: what they share, what shifts cost, scalars of short integers."""

from __future__ import annotations

import pytest
from support.scops import schedule_of

from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.estimate.estimate import estimate
from loopwright.passes.estimate.in_core import InCoreTime
from loopwright.passes.estimate.scheduled_program import ScheduledProgram
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.schedule_tree import Loop, nests
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline

ZEN5 = Target.named("zen5")
"""Its divisions take longer than three stores."""

RATIOS = """
func.func @f(%A: memref<100x400xTYPE>, %B: memref<3x100x400xTYPE>) {
  affine.for %i = 0 to 100 {
    affine.for %j = 0 to 400 {
      %0 = affine.load %A[%i, %j] : memref<100x400xTYPE>
      %1 = arith.divf %0, %0 : TYPE
STORES    }
  }
  return
}
"""


def in_core(schedule: Schedule) -> float:
    nest = schedule.tree
    assert isinstance(nest, Loop)
    program = ScheduledProgram(schedule, SchedulingContext({}, 1))
    return sum(InCoreTime(program).nest_seconds(nest, (nest,)))


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("count", [2, 3])
def test_what_statements_share_is_computed_once(kind: str, count: int) -> None:
    store = "      affine.store %1, %B[N, %i, %j] : memref<3x100x400xTYPE>\n"
    stores = [store.replace("N", str(number)) for number in range(count)]
    one, several = (
        Schedule.original(
            schedule_of(RATIOS.replace("STORES", "".join(each)).replace("TYPE", kind)).scop, ZEN5
        )
        for each in (stores[:1], stores)
    )
    assert in_core(several) < 1.2 * in_core(one)
    apart = several.apply_all(parse_pipeline("distribute{loops=i,j}"))
    alone = InCoreTime(ScheduledProgram(apart, SchedulingContext({}, 1)))
    parts = [each for each in nests(apart.tree) if isinstance(each, Loop)]
    total = sum(alone.nest_seconds(each, (each,))[0] for each in parts)
    assert total > 0.9 * count * in_core(one)


DIFFUSION = """
func.func @f(%A: memref<601x802xTYPE>, %B: memref<600x800xTYPE>) {
  %half = arith.constant 0.5 : TYPE
  %quarter = arith.constant 0.25 : TYPE
  affine.for %y = 0 to 600 {
    affine.for %x = 1 to 801 {
      %0 = affine.load %A[%y, %x] : memref<601x802xTYPE>
      %1 = math.floor %0 : TYPE
      %2 = arith.subf %0, %1 : TYPE
      affine.store %1, %B[%y, %x - 1] : memref<600x800xTYPE>
      %3 = affine.load %A[%y, %x + 1] : memref<601x802xTYPE>
      %4 = arith.mulf %2, %half : TYPE
      %5 = arith.addf %3, %4 : TYPE
      affine.store %5, %A[%y, %x + 1] : memref<601x802xTYPE>
      %6 = affine.load %A[%y + 1, %x - 1] : memref<601x802xTYPE>
      %7 = arith.mulf %2, %quarter : TYPE
      %8 = arith.addf %6, %7 : TYPE
      affine.store %8, %A[%y + 1, %x - 1] : memref<601x802xTYPE>
      %9 = affine.load %A[%y + 1, %x] : memref<601x802xTYPE>
      %10 = arith.addf %9, %7 : TYPE
      affine.store %10, %A[%y + 1, %x] : memref<601x802xTYPE>
    }
  }
  return
}
"""


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_shifted_statements_with_guards_are_no_gain(kind: str) -> None:
    """Wavefronts of tiles on two threads, in which every statement has another offset."""
    original = schedule_of(DIFFUSION.replace("TYPE", kind))
    context = SchedulingContext({}, 2)
    steps = "affine-schedule{fusion=maximal},tile{loops=y,x sizes=32,32}"
    tiled = original.apply_all(parse_pipeline(steps))
    assert estimate(tiled, context) > 1.5 * estimate(original, context)
    assert default_schedule(original.scop, {}, threads=2).transformations == ()


GREATEST = """
func.func @f(%A: memref<486x646xi8>, %B: memref<486x640xi8>) {
  affine.for %y = 0 to 486 {
    affine.for %x = 0 to 640 {
      %0 = affine.load %A[%y, %x] : memref<486x646xi8>
      %1 = arith.extui %0 : i8 to i32
      %2 = affine.for %k = 1 to TAPS iter_args(%3 = %1) -> (i32) {
        %4 = affine.load %A[%y, %x + %k] : memref<486x646xi8>
        %5 = arith.extui %4 : i8 to i32
        %6 = arith.maxui %3, %5 : i32
        affine.yield %6 : i32
      }
      %7 = arith.trunci %2 : i32 to i8
      affine.store %7, %B[%y, %x] : memref<486x640xi8>
    }
  }
  return
}
"""


@pytest.mark.parametrize("taps", [3, 7])
def test_llvm_narrows_the_scalars_of_short_integers(taps: int) -> None:
    """Vectors of 32-bit scalars are no gain over its vectors of bytes."""
    original = schedule_of(GREATEST.replace("TAPS", str(taps)))
    wide = original.apply_all(parse_pipeline("vectorize{loops=x width=8}"))
    context = SchedulingContext({}, 1)
    assert estimate(original, context) < 0.7 * estimate(wide, context)
