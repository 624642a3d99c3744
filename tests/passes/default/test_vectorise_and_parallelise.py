"""Vector loops around others: lanes that walk along rows load neighbours together."""

import numpy as np
import pytest
from support.reference_runs import check_run, function_of

from loopwright.passes.default.vectorise_and_parallelise import vectorise_and_parallelise
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.transformations.interchange import Interchange
from loopwright.runtime.program import load


@pytest.mark.parametrize("threads", [1, 2])
def test_loops_along_rows_inside_of_vector_loops_are_unrolled(threads: int) -> None:
    function = function_of("polybench/adi")
    sizes = infer_extents(function.scop, {"tsteps": 500, "n": 1000})
    original = Schedule.original(function.scop)
    context = SchedulingContext(sizes, threads)
    chosen = vectorise_and_parallelise(original, original.tree, context)
    assert chosen is not None
    steps = [str(step) for step in chosen.transformations]
    lanes = chosen.target.lanes(function.scop.arrays[0].element_type)
    for name in ("S3", "S6", "S10", "S13"):
        assert f"unroll{{loops={name}.j factor={lanes}}}" in steps
    for size in ("MINI", "SMALL"):
        check_run("polybench/adi", chosen, size)


def test_loops_with_loops_inside_are_not() -> None:
    """Only what is innermost brings neighbours together."""
    original = Schedule.original(function_of("polybench/correlation").scop)
    sizes = infer_extents(original.scop, {"m": 200, "n": 240})
    schedule = vectorise_and_parallelise(original, original.tree, SchedulingContext(sizes, 1))
    assert schedule is not None
    assert "vectorize" in str(schedule)
    assert "unroll" not in str(schedule)


RECURRENT = """
func.func @f(%W: memref<UNITSxUNITSxf32>, %h: memref<STEPSxROWSxUNITSxf32>,
             %s: memref<UNITSxROWSxf32>) {
  affine.for %t = 1 to STEPS {
    affine.for %j = 0 to UNITS {
      affine.for %b = 0 to ROWS {
        affine.for %k = 0 to UNITS {
          %0 = affine.load %W[%k, %j] : memref<UNITSxUNITSxf32>
          %1 = affine.load %h[%t - 1, %b, %k] : memref<STEPSxROWSxUNITSxf32>
          %2 = affine.load %h[%t, %b, %j] : memref<STEPSxROWSxUNITSxf32>
          %3 = arith.mulf %0, %1 : f32
          %4 = arith.addf %2, %3 : f32
          affine.store %4, %h[%t, %b, %j] : memref<STEPSxROWSxUNITSxf32>
        }
      }
    }
    affine.for %j = 0 to UNITS {
      affine.for %b = 0 to ROWS {
        %0 = affine.load %h[%t, %b, %j] : memref<STEPSxROWSxUNITSxf32>
        %1 = math.tanh %0 : f32
        affine.store %1, %h[%t, %b, %j] : memref<STEPSxROWSxUNITSxf32>
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize(("units", "rows"), [(64, 16), (37, 5), (20, 33)])
def test_nests_inside_of_a_loop_are_interchanged_for_their_vectors(units: int, rows: int) -> None:
    """As the steps of a recurrent network, which run one after the other."""
    text = RECURRENT.replace("UNITS", str(units)).replace("ROWS", str(rows)).replace("STEPS", "6")
    program = load(text)["f"]
    original = Schedule.original(program.scop)
    schedule = vectorise_and_parallelise(original, original.tree, SchedulingContext({}, 1))
    assert schedule is not None
    steps = [step for step in schedule.transformations if isinstance(step, Interchange)]
    assert [step.loops[-1].rpartition(".")[2] for step in steps] == ["j", "j"]
    inputs = [
        np.random.default_rng(1).random(shape, np.float32)
        for shape in ((units, units), (6, rows, units), (units, rows))
    ]
    expected, actual = ([each.copy() for each in inputs] for _ in range(2))
    program.compile(None, threads=1)(*expected)
    program.compile(schedule, threads=1, verify=True)(*actual)
    np.testing.assert_array_equal(actual[1], expected[1])


COLOURS = """
func.func @f(%u: memref<ROWSxCOLUMNSxf64>) {
  affine.for %t = 0 to 9 {
    affine.for %i = 1 to ROWS {
      affine.for %j = 0 to HALF {
        %0 = affine.load %u[%i - 1, 2 * %j + 1] : memref<ROWSxCOLUMNSxf64>
        affine.store %0, %u[%i, 2 * %j] : memref<ROWSxCOLUMNSxf64>
      }
    }
    affine.for %i = 1 to ROWS {
      affine.for %j = 0 to HALF {
        %0 = affine.load %u[%i - 1, 2 * %j] : memref<ROWSxCOLUMNSxf64>
        affine.store %0, %u[%i, 2 * %j + 1] : memref<ROWSxCOLUMNSxf64>
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize(("rows", "columns"), [(60, 90), (201, 302)])
def test_of_loops_without_neighbours_the_one_with_the_smaller_steps_has_vectors(
    rows: int, columns: int
) -> None:
    text = COLOURS.replace("ROWS", str(rows)).replace("COLUMNS", str(columns))
    original = Schedule.original(load(text.replace("HALF", str(columns // 2)))["f"].scop)
    schedule = vectorise_and_parallelise(original, original.tree, SchedulingContext({}, 1))
    assert schedule is not None
    assert [str(step)[:20] for step in schedule.transformations] == [
        "vectorize{loops=S0.j",
        "vectorize{loops=S1.j",
    ]


DIFFERENCES = """
func.func @f(%A: memref<60x70xKIND>, %B: memref<60x90xKIND>, %C: memref<60x70xLENGTHxKIND>) {
  affine.for %y = 0 to 60 {
    affine.for %x = 0 to 70 {
      affine.for %d = 0 to LENGTH {
        %0 = affine.load %A[%y, %x] : memref<60x70xKIND>
        %1 = affine.load %B[%y, %x + %d] : memref<60x90xKIND>
        %2 = arith.subi %0, %1 : KIND
        affine.store %2, %C[%y, %x, %d] : memref<60x70xLENGTHxKIND>
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize(("kind", "length"), [("i16", 8), ("i16", 16), ("i32", 4), ("i32", 6)])
@pytest.mark.usefixtures("zen3")
def test_half_a_register_of_neighbours_is_a_vector(kind: str, length: int) -> None:
    """Else LLVM unrolls the loop, and scatters along the one around it."""
    text = DIFFERENCES.replace("KIND", kind).replace("LENGTH", str(length))
    function = load(text)["f"]
    original = Schedule.original(function.scop)
    chosen = vectorise_and_parallelise(original, original.tree, SchedulingContext({}, 1))
    assert chosen is not None and "vectorize{loops=d" in str(chosen)
    type_ = np.int16 if kind == "i16" else np.int32
    a, b = (np.arange(60 * n, dtype=type_).reshape(60, n) for n in (70, 90))
    c = np.zeros((60, 70, length), type_)
    function.compile(chosen, threads=1)(a, b, c)
    windows = np.lib.stride_tricks.sliding_window_view(b, length, 1)[:, :70]
    np.testing.assert_array_equal(c, a[:, :, None] - windows)


EROSION = """
func.func @f(%A: memref<60x1282xi8> {loopwright.unsigned},
             %B: memref<60x1280xi8> {loopwright.unsigned}) {
  affine.for %y = 0 to 60 {
    affine.for %x = 0 to 1280 {
      %0 = affine.load %A[%y, %x] : memref<60x1282xi8>
      %1 = affine.load %A[%y, %x + 1] : memref<60x1282xi8>
      %2 = arith.extui %0 : i8 to WIDE
      %3 = arith.extui %1 : i8 to WIDE
      %4 = arith.minui %2, %3 : WIDE
      %5 = affine.load %A[%y, %x + 2] : memref<60x1282xi8>
      %6 = arith.extui %5 : i8 to WIDE
      %7 = arith.minui %4, %6 : WIDE
      %8 = arith.trunci %7 : WIDE to i8
      affine.store %8, %B[%y, %x] : memref<60x1280xi8>
    }
  }
  return
}
"""


@pytest.mark.parametrize("wide", ["i32", "i64"])
def test_what_is_narrowed_shares_neighbours(wide: str) -> None:
    """Casts around arithmetic that is computed in 8 bits take no registers."""
    function = load(EROSION.replace("WIDE", wide))["f"]
    original = Schedule.original(function.scop, Target.named("zen4"))
    chosen = vectorise_and_parallelise(original, original.tree, SchedulingContext({}, 1))
    assert str(chosen) == "vectorize{loops=x width=64},unroll{loops=x factor=4}"
    a = np.random.default_rng(1).integers(0, 256, (60, 1282), np.uint8)
    b = np.zeros((60, 1280), np.uint8)
    function.compile("vectorize{loops=x width=64},unroll{loops=x factor=4}", threads=1)(a, b)
    assert np.array_equal(b, np.lib.stride_tricks.sliding_window_view(a, 3, 1).min(2))


GROUPED_MEANS = """
func.func @f(%x: memref<GROUPSxROWSx14x14xf32>, %y: memref<GROUPSxROWSxf32>) {
  %c0 = arith.constant 0.0 : f32
  %c196 = arith.constant 196.0 : f32
  affine.for %b = 0 to GROUPS {
    affine.for %q = 0 to ROWS {
      %sum = affine.for %i = 0 to 14 iter_args(%outer = %c0) -> (f32) {
        %inner = affine.for %j = 0 to 14 iter_args(%before = %outer) -> (f32) {
          %0 = affine.load %x[%b, %q, %i, %j] : memref<GROUPSxROWSx14x14xf32>
          %1 = arith.addf %before, %0 : f32
          affine.yield %1 : f32
        }
        affine.yield %inner : f32
      }
      %mean = arith.divf %sum, %c196 : f32
      affine.store %mean, %y[%b, %q] : memref<GROUPSxROWSxf32>
    }
  }
  return
}
"""


@pytest.mark.parametrize(("groups", "rows"), [(8, 256), (256, 64), (64, 17)])
def test_all_statements_of_a_band_choose_its_vector_loop(groups: int, rows: int) -> None:
    """Also where the first one sets a sum to zero, which any loop suits."""
    text = GROUPED_MEANS.replace("GROUPS", str(groups)).replace("ROWS", str(rows))
    original = Schedule.original(load(text)["f"].scop, Target.named("generic-avx512"))
    schedule = vectorise_and_parallelise(original, original.tree, SchedulingContext({}, 1))
    assert schedule is not None
    assert "vectorize{loops=q " in str(schedule)
    assert "unroll{loops=j " in str(schedule)
