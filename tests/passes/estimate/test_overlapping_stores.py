"""What LLVM makes no vectors of, and vectors that wait for what the iteration before has stored."""

from __future__ import annotations

import pytest
from support.targets import WIDE

from loopwright.passes.estimate.estimate import estimate
from loopwright.passes.estimate.in_core import CoreCycles, InCoreTime
from loopwright.passes.estimate.scheduled_program import ScheduledProgram
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.schedule_tree import leaves
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.formats import apply_text
from loopwright.runtime.program import load

# Patches that overlap are added up: elements of three of them come to the same place.
PATCHES = """
func.func @f(%P: memref<64x3x32xf32>, %O: memref<64x40xf32>) {
  affine.for %i = 0 to 64 {
    affine.for %s = 0 to 3 {
      affine.for %j = 0 to 32 {
        %0 = affine.load %O[%i, PLACE] : memref<64x40xf32>
        %1 = affine.load %P[%i, %s, %j] : memref<64x3x32xf32>
        %2 = arith.addf %0, %1 : f32
        affine.store %2, %O[%i, PLACE] : memref<64x40xf32>
      }
    }
  }
  return
}
"""
# Results for each column that every row changes.
COLUMNS = """
func.func @f(%X: memref<400xWIDTHxf32>, %S: memref<WIDTHxf32>, %Q: memref<WIDTHxf32>) {
  affine.for %i = 0 to 400 {
    affine.for %j = 0 to WIDTH {
      %0 = affine.load %X[%i, %j] : memref<400xWIDTHxf32>
      %1 = affine.load %S[%j] : memref<WIDTHxf32>
      %2 = arith.addf %0, %1 : f32
      affine.store %2, %S[%j] : memref<WIDTHxf32>
      %3 = affine.load %Q[%j] : memref<WIDTHxf32>
      %4 = arith.mulf %2, %0 : f32
      %5 = arith.addf %3, %4 : f32
      affine.store %5, %Q[%j] : memref<WIDTHxf32>
    }
  }
  return
}
"""
BACKWARDS = """
func.func @f(%A: memref<64x3072xKIND>, %B: memref<64x1024xKIND>) {
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 1024 {
      %0 = affine.load %A[%i, PLACE] : memref<64x3072xKIND>
      affine.store %0, %B[%i, %j] : memref<64x1024xKIND>
    }
  }
  return
}
"""


def schedule(text: str, steps: str) -> Schedule:
    return apply_text(steps, Schedule.original(load(text)["f"].scop, WIDE))


def cycles(schedule: Schedule) -> CoreCycles:
    program = ScheduledProgram(schedule, SchedulingContext({}, 1))
    ((leaf, loops),) = leaves(schedule.tree)
    found = InCoreTime(program).cycles(leaf, loops)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("place", "steps", "waits"),
    [
        ("%j + %s", "vectorize{loops=j width=16}", True),
        ("%j + 2 * %s", "vectorize{loops=j width=16}", True),
        ("%j + %s", "skew{loops=s,j factors=1},vectorize{loops=j width=16}", True),
        ("%j", "vectorize{loops=j width=16}", False),
        ("%j + %s", "interchange{loops=s,i},vectorize{loops=j width=16}", False),
    ],
)
def test_vectors_that_overlap_what_was_just_stored_wait(
    place: str, steps: str, waits: bool
) -> None:
    found = cycles(schedule(PATCHES.replace("PLACE", place), steps))
    # Two of three iterations wait, for both of their vectors.
    least = WIDE.masked_forwarding * 2 / 3 / 2
    assert (found.latency == pytest.approx(least)) == waits


@pytest.mark.parametrize(("width", "in_registers"), [(160, True), (272, False)])
def test_results_of_all_stores_need_registers(width: int, in_registers: bool) -> None:
    text = COLUMNS.replace("WIDTH", str(width))
    found = cycles(schedule(text, "vectorize{loops=j width=16}"))
    assert (found.accesses < 2) == in_registers


@pytest.mark.parametrize("kind", ["i8", "f32"])
def test_llvm_shuffles_no_rows_backwards(kind: str) -> None:
    times = {}
    for place in ("3 * %j", "3069 - 3 * %j"):
        text = BACKWARDS.replace("KIND", kind).replace("PLACE", place)
        for steps in ("", "vectorize{loops=j width=16}"):
            times[place, steps] = estimate(schedule(text, steps), SchedulingContext({}, 1))
    written = times["3069 - 3 * %j", ""]
    assert written > 1.2 * times["3 * %j", ""]
    assert written > 1.2 * times["3069 - 3 * %j", "vectorize{loops=j width=16}"]
