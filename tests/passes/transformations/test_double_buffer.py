"""Double buffering: the two arrays, results, and what is refused."""

from __future__ import annotations

import random

import islpy as isl
import pytest
from support.copy_back_programs import CopyBackProgram, assert_same, random_copy_back
from support.scops import polybench, schedule_of

from loopwright.passes.polyhedral.descriptions import describe_tree
from loopwright.passes.schedules.errors import MalformedTransformation, TransformationError
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline

JACOBI = """
func.func @f(%steps: index, %n: index, %A: memref<?xf64>, %B: memref<?xf64>) {
  affine.for %t = 0 to %steps {
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      %0 = affine.load %A[%i - 1] : memref<?xf64>
      %1 = affine.load %A[%i + 1] : memref<?xf64>
      %2 = arith.addf %0, %1 : f64
      affine.store %2, %B[%i] : memref<?xf64>
    }
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      %3 = affine.load %B[%i] : memref<?xf64>
      affine.store %3, %A[%i] : memref<?xf64>
    }
  }
  return
}
"""

# What is read of B is what the step before has left there: it is not copied back in time.
DAMPED = JACOBI.replace("%1 = affine.load %A[%i + 1]", "%1 = affine.load %B[%i]")

# Only odd elements are copied: the others of A stay as they are.
RED_BLACK = JACOBI.replace("load %B[%i]", "load %B[2 * %i]").replace(
    "affine.store %3, %A[%i]", "affine.store %3, %A[2 * %i]"
)


# The wave equation: arrays of the last two steps, copied from one to the next.
WAVE = """
func.func @f(%steps: index, %n: index, %P: memref<?xf64>, %A: memref<?xf64>, %B: memref<?xf64>) {
  affine.for %t = 0 to %steps {
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      %0 = affine.load %A[%i - 1] : memref<?xf64>
      %1 = affine.load %A[%i + 1] : memref<?xf64>
      %2 = arith.addf %0, %1 : f64
      %3 = affine.load %P[%i] : memref<?xf64>
      %4 = arith.subf %2, %3 : f64
      affine.store %4, %B[%i] : memref<?xf64>
    }
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      %5 = affine.load %A[%i] : memref<?xf64>
      affine.store %5, %P[%i] : memref<?xf64>
      %6 = affine.load %B[%i] : memref<?xf64>
      affine.store %6, %A[%i] : memref<?xf64>
    }
  }
  return
}
"""

# A neighbour of the step before the last one is read, which is overwritten before that.
STILL_READ = WAVE.replace("load %P[%i]", "load %P[%i - 1]")


def doubled(text: str, pipeline: str = "double-buffer{loops=t}") -> Schedule:
    return schedule_of(text).apply_all(parse_pipeline(pipeline))


def test_even_iterations_write_the_buffer_and_odd_ones_the_array() -> None:
    schedule = doubled(JACOBI)
    assert str(schedule) == "double-buffer{loops=t copy=S1}"
    assert describe_tree(schedule.scop, schedule.tree).splitlines()[2:7] == [
        "for t",
        "  for i = i1",
        "    S0(t, i): A_buffer[i] from A[i - 1], A[i + 1]",
        "  for i = i1",
        "    S0_2(t, i): A[i] from A_buffer[i - 1], A_buffer[i + 1]",
    ]


def test_what_is_computed_overwrites_the_oldest_step() -> None:
    schedule = doubled(WAVE, "double-buffer{loops=t copy=S2}")
    stencils = [s for s in schedule.scop.statements if s.name in ("S0", "S0_2")]
    assert [[a.array.name for a in s.accesses] for s in stencils] == [
        ["A", "A", "A_buffer", "A_buffer"],
        ["A_buffer", "A_buffer", "A", "A"],
    ]


def test_the_older_copy_stays_where_its_step_is_still_read() -> None:
    schedule = doubled(STILL_READ, "double-buffer{loops=t copy=S2}")
    written = [a.array.name for s in schedule.scop.statements for a in s.writes]
    assert written.count("P") == 2


@pytest.mark.parametrize("text", [WAVE, STILL_READ])
@pytest.mark.parametrize("behind", ["", ",affine-schedule,tile{loops=t,i sizes=2,4}"])
def test_older_steps_leave_the_same(text: str, behind: str) -> None:
    assert_same(CopyBackProgram(text, "f64"), f"double-buffer{{loops=t copy=S2}}{behind}")


def test_only_borders_are_copied_before_the_loop() -> None:
    domain = doubled(JACOBI).scop.statement("begin_A_buffer").domain
    borders = isl.Set(
        "[steps, n] -> { begin_A_buffer[x] : steps >= 2 and n >= 3 and (x = 0 or x = n - 1) }"
    )
    assert domain.is_equal(borders.set_tuple_id(domain.get_tuple_id()))


def test_a_buffer_that_nothing_else_uses_is_gone() -> None:
    schedule = Schedule.original(polybench("durbin"))
    after = schedule.apply_all(parse_pipeline("double-buffer{loops=k}"))
    assert "z" not in {array.name for array in after.scop.arrays}
    assert all(name != "S8" for name in (s.name for s in after.scop.statements))


@pytest.mark.parametrize("seed", range(32))
def test_random_programs_leave_the_same(seed: int) -> None:
    program = random_copy_back(random.Random(seed))
    try:
        schedule = program.function.schedule("double-buffer{loops=t}")
    except TransformationError:
        return
    assert_same(program, str(schedule))


@pytest.mark.parametrize(
    "pipeline",
    [
        "double-buffer{loops=t},affine-schedule,tile{loops=t,i sizes=2,4},vectorize{loops=S0.i}",
        "double-buffer{loops=t},parallel{loops=S0.i},split{loops=S0.i at=5}",
        "double-buffer{loops=t},split{loops=t at=1},unroll{loops=S0.t factor=2}",
        "strip-mine{loops=S0.i size=4},double-buffer{loops=t},vectorize{loops=S0.i width=4}",
    ],
)
def test_steps_behind_it(pipeline: str) -> None:
    assert_same(CopyBackProgram(JACOBI, "f64"), pipeline)


@pytest.mark.parametrize(
    ("text", "pipeline", "message"),
    [
        (DAMPED, "double-buffer{loops=t}", "not proved that A and a buffer can take turns"),
        (RED_BLACK, "double-buffer{loops=t}", "not proved that A and a buffer can take turns"),
        (JACOBI, "double-buffer{loops=t copy=S0}", "must copy an array .*: S1"),
        (JACOBI, "double-buffer{loops=S0.i}", "must copy an array .*: none does"),
        (JACOBI, "double-buffer{loops=S1.i}", "must be an outermost loop"),
        (JACOBI, "double-buffer{loops=t},double-buffer{loops=t}", "none does"),
    ],
)
def test_what_is_refused(text: str, pipeline: str, message: str) -> None:
    with pytest.raises(MalformedTransformation, match=message):
        doubled(text, pipeline)
