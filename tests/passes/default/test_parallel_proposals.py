"""Nests of no kind: parallel loops, strips of these for threads, short loops unrolled."""

from __future__ import annotations

import numpy as np
import pytest
from support.scops import schedule_of

from loopwright.passes.default.outermost_parallel import outermost_parallel
from loopwright.passes.default.parallel_strips import parallel_strips
from loopwright.passes.default.unrolled_short_loops import unrolled_short_loops
from loopwright.passes.estimate.scheduled_program import ScheduledProgram
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import leaves, nests
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline
from loopwright.runtime.program import load

RECURRENCE = """
func.func @f(%n: index, %m: index, %A: memref<?x?xTYPE>, %B: memref<?x?xTYPE>) {
  affine.for %OUTER = 1 to %n {
    affine.for %INNER = 0 to %m {
      %0 = affine.load %A[FROM, %INNER] : memref<?x?xTYPE>
      %1 = affine.load %B[%OUTER, %INNER] : memref<?x?xTYPE>
      %2 = arith.addf %0, %1 : TYPE
      affine.store %2, %A[%OUTER, %INNER] : memref<?x?xTYPE>
    }
  }
  return
}
"""


def program(subscript: str, kind: str = "f64", outer: str = "i", inner: str = "j") -> Schedule:
    text = RECURRENCE.replace("FROM", subscript).replace("TYPE", kind)
    return schedule_of(text.replace("OUTER", outer).replace("INNER", inner))


def context_of(schedule: Schedule, threads: int, m: int = 5000) -> SchedulingContext:
    return SchedulingContext(infer_extents(schedule.scop, {"n": 300, "m": m}), threads)


@pytest.mark.parametrize(("kind", "outer", "inner"), [("f64", "i", "j"), ("f32", "time", "x")])
@pytest.mark.parametrize("m", [5000, 4999, 1024])
def test_strips_where_the_outer_loop_is_sequential(
    kind: str, outer: str, inner: str, m: int
) -> None:
    original = program(f"%{outer} - 1", kind, outer, inner)
    (nest,) = nests(original.tree)
    found = parallel_strips(original, nest, context_of(original, 2, m))
    assert found is not None
    lanes = original.target.lanes(original.scop.arrays[0].element_type)
    size = -(-m // (2 * lanes)) * lanes
    strips = f"strip-mine{{loops={inner} size={size}}},interchange{{loops={inner}t,{outer}}}"
    assert str(found) == f"{strips},parallel{{loops={inner}t}}"


def test_no_strips_where_the_outer_loop_is_parallel_or_threads_are_missing() -> None:
    original = program("%i")
    (nest,) = nests(original.tree)
    assert parallel_strips(original, nest, context_of(original, 2)) is None
    recurrence = program("%i - 1")
    (nest,) = nests(recurrence.tree)
    assert parallel_strips(recurrence, nest, context_of(recurrence, 1)) is None


def test_the_outermost_parallel_loop_is_marked_and_nothing_else() -> None:
    original = program("%i")
    (nest,) = nests(original.tree)
    assert str(outermost_parallel(original, nest, context_of(original, 2))) == "parallel{loops=i}"
    assert outermost_parallel(original, nest, context_of(original, 1)) is None
    recurrence = program("%i - 1")
    (nest,) = nests(recurrence.tree)
    found = outermost_parallel(recurrence, nest, context_of(recurrence, 2))
    assert str(found) == "parallel{loops=j}"


@pytest.mark.parametrize(
    ("rows", "threads", "is_shared"),
    [(16, 2, True), (15, 2, False), (24, 2, True), (31, 4, False), (32, 4, True), (32, 16, True)],
)
def test_a_vector_loop_is_shared_out_where_there_is_a_vector_for_a_thread(
    rows: int, threads: int, is_shared: bool
) -> None:
    original = program("%i").apply_all(parse_pipeline("vectorize{loops=i width=8}"))
    (nest,) = nests(original.tree)
    extents = infer_extents(original.scop, {"n": rows + 1, "m": 3000})
    found = outermost_parallel(original, nest, SchedulingContext(extents, threads))
    assert str(found).endswith("parallel{loops=i}") == is_shared


def test_a_plain_loop_of_fewer_iterations_than_threads_is_shared_out() -> None:
    original = program("%i")
    (nest,) = nests(original.tree)
    extents = infer_extents(original.scop, {"n": 4, "m": 1})
    found = outermost_parallel(original, nest, SchedulingContext(extents, 8))
    assert str(found) == "parallel{loops=i}"


PIXELS = """
func.func @f(%n: index, %m: index, %A: memref<?x?xTYPE>, %B: memref<?x?xTYPE>) {
  affine.for %i = 0 to %n {
    affine.for %x = 0 to 200 {
      affine.for %c = 0 to CHANNELS {
        %0 = affine.load %A[%i, CHANNELS * %x + %c] : memref<?x?xTYPE>
        affine.store %0, %B[%i, CHANNELS * %x + %c] : memref<?x?xTYPE>
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize(("kind", "channels"), [("i8", 3), ("i16", 2), ("f32", 4), ("f64", 8)])
def test_short_loops_are_unrolled_inside_of_vectors(kind: str, channels: int) -> None:
    original = schedule_of(PIXELS.replace("CHANNELS", str(channels)).replace("TYPE", kind))
    (nest,) = nests(original.tree)
    found = unrolled_short_loops(original, nest, context_of(original, 2))
    assert found is not None
    lanes = original.target.lanes(original.scop.arrays[0].element_type)
    assert str(found) == f"unroll{{loops=c}},vectorize{{loops=x width={lanes}}},parallel{{loops=i}}"


CHANNEL_SUMS = """
func.func @f(%A: memref<64x640x6xi8>, %B: memref<64x640xf32>) {
  affine.for %i = 0 to 64 {
    affine.for %x = 0 to 640 {
      affine.for %c = 0 to 6 {
        %0 = affine.load %A[%i, %x, %c] : memref<64x640x6xi8>
        %1 = affine.load %B[%i, %x] : memref<64x640xf32>
        %2 = arith.sitofp %0 : i8 to f32
        %3 = arith.addf %1, %2 : f32
        affine.store %3, %B[%i, %x] : memref<64x640xf32>
      }
    }
  }
  return
}
"""


def test_rows_of_short_elements_are_shuffled_in_whole_registers() -> None:
    """Vectors of four registers of the longer elements that are stored."""
    original = Schedule.original(load(CHANNEL_SUMS)["f"].scop, Target.named("zen4"))
    (nest,) = nests(original.tree)
    found = unrolled_short_loops(original, nest, context_of(original, 1))
    assert str(found) == "unroll{loops=c},vectorize{loops=x width=64}"


def test_long_loops_are_not_unrolled() -> None:
    original = schedule_of(PIXELS.replace("CHANNELS", "9").replace("TYPE", "i8"))
    (nest,) = nests(original.tree)
    assert unrolled_short_loops(original, nest, context_of(original, 2)) is None


ROWS_BESIDE = """
func.func @f(%n: index, %A: memref<?x4x40xf64>, %s: memref<?x4xf64>, %B: memref<?x40xf64>) {
  affine.for %m = 0 to %n {
    affine.for %i = 0 to 4 {
      %0 = affine.load %s[%m, %i] : memref<?x4xf64>
      affine.for %j = 0 to 40 {
        %1 = affine.load %A[%m, %i, %j] : memref<?x4x40xf64>
        %2 = arith.mulf %0, %1 : f64
        affine.store %2, %A[%m, %i, %j] : memref<?x4x40xf64>
      }
    }
    affine.for %k = 0 to 4 {
      %3 = affine.load %s[%m, %k] : memref<?x4xf64>
      %4 = arith.addf %3, %3 : f64
      affine.store %4, %B[%m, %k] : memref<?x40xf64>
    }
  }
  return
}
"""


def test_no_vectors_of_long_loops_inside_of_others() -> None:
    original = schedule_of(ROWS_BESIDE)
    (nest,) = nests(original.tree)
    assert unrolled_short_loops(original, nest, context_of(original, 2)) is None


PLANES = """
func.func @f(%n: index, %m: index, %A: memref<PLANESx?x?xf32>, %B: memref<PLANESx?x?xf32>) {
  affine.for %c = 0 to PLANES {
    affine.for %y = 0 to %n {
      affine.for %x = 0 to %m {
        %0 = affine.load %A[%c, %y, %x] : memref<PLANESx?x?xf32>
        %1 = arith.mulf %0, %0 : f32
        affine.store %1, %B[%c, %y, %x] : memref<PLANESx?x?xf32>
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize(
    ("planes", "threads", "shared"),
    [(3, 2, "y"), (5, 2, "y"), (3, 4, "y"), (4, 2, "c"), (3, 3, "c"), (41, 2, "c")],
)
def test_few_iterations_that_threads_share_unevenly(planes: int, threads: int, shared: str) -> None:
    original = schedule_of(PLANES.replace("PLANES", str(planes)))
    (nest,) = nests(original.tree)
    context = context_of(original, threads)
    assert str(outermost_parallel(original, nest, context)) == f"parallel{{loops={shared}}}"


@pytest.mark.parametrize(("loop", "busy"), [("c", 1.5), ("y", 2.0)])
def test_the_estimate_counts_idle_threads(loop: str, busy: float) -> None:
    original = schedule_of(PLANES.replace("PLANES", "3"))
    schedule = original.apply_all(parse_pipeline(f"parallel{{loops={loop}}}"))
    program = ScheduledProgram(schedule, context_of(original, 2))
    (leaf, loops), *_ = leaves(schedule.tree, ())
    assert program.threads(program.statement(leaf.statement), loops) == busy


@pytest.mark.parametrize(("kind", "channels"), [("i8", 3), ("i16", 2), ("f32", 4)])
def test_what_is_stored_backwards_is_reversed(kind: str, channels: int) -> None:
    """A mirrored row of pixels: stores go on as shuffled whole rows, loads go backwards."""
    text = PIXELS.replace("%B[%i, CHANNELS * %x", "%B[%i, 199 * CHANNELS - CHANNELS * %x")
    original = schedule_of(text.replace("CHANNELS", str(channels)).replace("TYPE", kind))
    (nest,) = nests(original.tree)
    found = unrolled_short_loops(original, nest, context_of(original, 1))
    lanes = original.target.lanes(original.scop.arrays[0].element_type)
    steps = f"unroll{{loops=c}},reverse{{loops=x}},vectorize{{loops=x width={lanes}}}"
    assert str(found) == steps
    element = {"i8": np.int8, "i16": np.int16, "f32": np.float32}[kind]
    source = np.arange(3 * 200 * channels).reshape(3, -1).astype(element)
    mirrored = np.zeros_like(source)
    load(str(text.replace("CHANNELS", str(channels)).replace("TYPE", kind)))["f"].compile(steps)(
        3, 200, source, mirrored
    )
    pixels = source.reshape(3, 200, channels)
    np.testing.assert_array_equal(mirrored.reshape(pixels.shape), pixels[:, ::-1])
