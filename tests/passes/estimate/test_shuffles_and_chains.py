"""Shuffles take pipes of arithmetic, and extrema and integers are waited for less than sums."""

from __future__ import annotations

import re

import pytest
from support.targets import NARROW, WIDE

from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.estimate.in_core import CoreCycles, InCoreTime
from loopwright.passes.estimate.scheduled_program import ScheduledProgram
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import leaves
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline
from loopwright.runtime.program import load

SIZES = {"n": 960, "m": 1000}

# The nearest of points that are stored one after the other, with COUNT coordinates each.
NEAREST = """
func.func @f(%n: index, %m: index, %p: memref<?xCOUNTxTYPE>, %q: memref<?xCOUNTxTYPE>,
             %d: memref<?xTYPE>) {
  %large = arith.constant 1.0e30 : TYPE
  affine.for %i = 0 to %n {
    affine.store %large, %d[%i] : memref<?xTYPE>
    affine.for %j = 0 to %m {
COORDINATES
      %best = affine.load %d[%i] : memref<?xTYPE>
      %less = arith.cmpf olt, %sLAST, %best : TYPE
      %new = arith.select %less, %sLAST, %best : TYPE
      affine.store %new, %d[%i] : memref<?xTYPE>
    }
  }
  return
}
"""
COORDINATE = """
      %x# = affine.load %p[%i, #] : memref<?xCOUNTxTYPE>
      %y# = affine.load %q[%j, #] : memref<?xCOUNTxTYPE>
      %d# = arith.subf %x#, %y# : TYPE
      %e# = arith.mulf %d#, %d# : TYPE
"""
ACCUMULATE = """
func.func @f(%n: index, %m: index, %x: memref<?x?xTYPE>, %s: memref<?xTYPE>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %0 = affine.load %s[%i] : memref<?xTYPE>
      %1 = affine.load %x[%i, %j] : memref<?x?xTYPE>
      %2 = OPERATION : TYPE
      affine.store %2, %s[%i] : memref<?xTYPE>
    }
  }
  return
}
"""
# Every element of an image goes to several of a larger one.
SCATTER = """
func.func @f(%n: index, %m: index, %I: memref<?x?xf32>, %W: memref<4x4xf32>, %O: memref<?x?xf32>) {
  affine.for %y = 0 to %n {
    affine.for %x = 0 to %m {
      affine.for %u = 0 to 4 {
        affine.for %v = 0 to 4 {
          %0 = affine.load %O[2 * %y + %u, 2 * %x + %v] : memref<?x?xf32>
          %1 = affine.load %I[%y, %x] : memref<?x?xf32>
          %2 = affine.load %W[%u, %v] : memref<4x4xf32>
          %3 = arith.mulf %1, %2 : f32
          %4 = arith.addf %0, %3 : f32
          affine.store %4, %O[2 * %y + %u, 2 * %x + %v] : memref<?x?xf32>
        }
      }
    }
  }
  return
}
"""


def nearest(count: int, kind: str) -> str:
    lines = [COORDINATE.replace("#", str(number)) for number in range(count)]
    lines.append("      %s0 = arith.addf %e0, %e0 : TYPE\n")
    lines += [
        f"      %s{number} = arith.addf %s{number - 1}, %e{number} : TYPE\n"
        for number in range(1, count)
    ]
    text = NEAREST.replace("COORDINATES", "".join(lines)).replace("LAST", str(count - 1))
    return text.replace("COUNT", str(count)).replace("TYPE", kind)


def cycles(text: str, steps: str, statement: str, target: Target) -> CoreCycles:
    scop = load(text)["f"].scop
    schedule = Schedule.original(scop, target).apply_all(parse_pipeline(steps))
    program = ScheduledProgram(schedule, SchedulingContext(infer_extents(scop, SIZES), 1))
    leaf, loops = next(each for each in leaves(schedule.tree, ()) if each[0].statement == statement)
    found = InCoreTime(program).cycles(leaf, loops)
    assert found is not None
    return found


@pytest.mark.parametrize("target", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_points_are_shuffled_once_and_not_for_every_pair(
    count: int, kind: str, target: Target
) -> None:
    """The points in lanes stay in registers along the loop over the others."""
    scop = load(nearest(count, kind))["f"].scop
    chosen = default_schedule(scop, infer_extents(scop, SIZES), target, threads=1)
    around = next(loops for leaf, loops in leaves(chosen.tree, ()) if leaf.statement == "S1")
    kept = [loop.name for loop in around if loop.unroll != 0]
    assert kept[-1].endswith("j") and len(kept) > 1, str(chosen)


def test_shuffles_are_added_to_the_arithmetic_beside_them() -> None:
    text, steps = nearest(3, "f32"), "affine-schedule{fusion=minimal},interchange{loops=j,S1.i}"
    steps += ",vectorize{loops=S1.i width=16}"
    strided = cycles(text, steps, "S1", WIDE)
    columns = re.sub(r"%p\[%i, (\d)\] : memref<\?x3x", r"%p[\1, %i] : memref<3x?x", text)
    rows = cycles(columns.replace("%p: memref<?x3x", "%p: memref<3x?x"), steps, "S1", WIDE)
    # Two shuffles for each of three columns.
    assert strided.operations >= rows.operations + 6 * WIDE.cycles["shuffles"] - 1e-9


@pytest.mark.parametrize(
    ("operation", "kind", "latency"),
    [
        ("arith.addf %0, %1", "f32", "additions"),
        ("arith.addi %0, %1", "i32", "others"),
        ("arith.maxsi %0, %1", "i64", "others"),
        ("arith.mulf %0, %1", "f64", "multiplications"),
    ],
)
def test_what_a_chain_waits_for(operation: str, kind: str, latency: str) -> None:
    text = ACCUMULATE.replace("OPERATION", operation).replace("TYPE", kind)
    found = cycles(text, "vectorize{loops=i width=8}", "S0", WIDE)
    assert found.latency == pytest.approx(WIDE.latencies[latency], rel=0.1)


@pytest.mark.parametrize("fast_math", [False, True])
def test_a_loop_is_no_vector_loop_where_others_begin_elsewhere_in_each_lane(
    fast_math: bool,
) -> None:
    scop = load(SCATTER)["f"].scop
    written = Schedule.original(scop, WIDE, reassociate=fast_math)
    gathered = written.apply_all(parse_pipeline("affine-schedule{fusion=minimal}"))
    inner = next(loop.name for leaf, loops in leaves(gathered.tree, ()) for loop in loops[1:2])
    marked = gathered.apply_all(parse_pipeline(f"vectorize{{loops={inner} width=16}}"))
    program = ScheduledProgram(marked, SchedulingContext(infer_extents(scop, SIZES), 1))
    ((leaf, loops),) = leaves(marked.tree, ())
    found = InCoreTime(program).cycles(leaf, loops)
    assert found is not None and found.lanes == 1, [loop.name for loop in loops]
