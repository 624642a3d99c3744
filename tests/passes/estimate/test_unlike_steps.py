"""Arrays that LLVM cannot tell apart along a loop, and vectors that it makes none of."""

from __future__ import annotations

import pytest

from loopwright.passes.estimate.estimate import estimate
from loopwright.passes.estimate.scheduled_program import ScheduledProgram
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.estimate.unlike_steps import has_unlike_steps
from loopwright.passes.polyhedral.schedule_tree import leaves, place_of
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import load

pytestmark = pytest.mark.usefixtures("zen3")

STEPS = """
func.func @f(%A: memref<64x24xf64>, %B: memref<24x24xf64>, %C: memref<64x24xf64>) {{
  %zero = arith.constant 0.0 : f64
  affine.for %i = 1 to 64 {{
    affine.for %j = 0 to 24 {{
      %s = affine.for %k = 0 to 24 iter_args(%sum = %zero) -> (f64) {{
        %0 = affine.load {loaded} : memref<64x24xf64>
        %1 = affine.load %B[%k, %j] : memref<24x24xf64>
        %2 = arith.mulf %0, %1 : f64
        %3 = arith.addf %sum, %2 : f64
        affine.yield %3 : f64
      }}
      affine.store %s, %A[{stored}] : memref<64x24xf64>
    }}
  }}
  return
}}
"""


def schedule(loaded: str, stored: str = "%i, %j") -> Schedule:
    return load(STEPS.format(loaded=loaded, stored=stored))["f"].schedule("")


@pytest.mark.parametrize(
    ("loaded", "stored", "expected"),
    [
        ("%A[%i - 1, %k]", "%i, %j", True),
        ("%A[%i - 1, %k]", "%i, 23 - %j", True),
        ("%C[%i - 1, %k]", "%i, %j", False),
        ("%A[%i - 1, 0]", "%i, %j", False),
        ("%A[%i - 1, %j]", "%i, %j", False),
        ("%A[%i - 1, %k]", "%i, 0", False),
    ],
)
def test_steps_along_a_loop(loaded: str, stored: str, expected: bool) -> None:
    original = schedule(loaded, stored)
    program = ScheduledProgram(original, SchedulingContext({}, 1))
    loops = max((around for _, around in leaves(original.tree)), key=len)
    place = place_of(next(loop for loop in loops if loop.name.endswith("j")), loops)
    assert has_unlike_steps(program, loops[place], loops[:place]) == expected


def test_vectors_of_a_schedule_are_faster_than_none_of_llvm() -> None:
    context = SchedulingContext({}, 1)
    own = schedule("%A[%i - 1, %k]")
    other = schedule("%C[%i - 1, %k]")
    assert estimate(own, context) > 1.5 * estimate(other, SchedulingContext({}, 1))
    vectors = load(STEPS.format(loaded="%A[%i - 1, %k]", stored="%i, %j"))["f"]
    marked = vectors.schedule("vectorize{loops=j width=4}")
    assert estimate(marked, SchedulingContext({}, 1)) < estimate(own, context)
