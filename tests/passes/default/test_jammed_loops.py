"""Loops around innermost ones are unrolled and jammed where that is clearly faster."""

from pathlib import Path

import numpy as np
import pytest
from support.targets import WIDE

import loopwright
from loopwright.passes.default.default_schedule import default_schedule, jammed_best
from loopwright.passes.default.jammed_loops import jammed_loops
from loopwright.passes.estimate.estimate import estimate
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.isl_context import ISL_LOCK
from loopwright.passes.polyhedral.schedule_tree import loops, statements
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline

TABLE = """
func.func @table(%n: index, %m: index, %W: memref<?x?xTYPE>, %H: memref<?x?xTYPE>) {
  affine.for %ROW = 1 to %n {
    affine.for %COLUMN = 1 to %m {
      %0 = affine.load %H[%ROW - 1, %COLUMN] : memref<?x?xTYPE>
      %1 = affine.load %H[%ROW, %COLUMN - 1] : memref<?x?xTYPE>
      %2 = affine.load %W[%ROW, %COLUMN] : memref<?x?xTYPE>
      %3 = arith.SUM %0, %2 : TYPE
      %4 = arith.SUM %3, %1 : TYPE
      affine.store %4, %H[%ROW, %COLUMN] : memref<?x?xTYPE>
    }
  }
  return
}
"""
OPERATIONS = {"f64": "addf", "f32": "maximumf"}
NUMBERS = {"f64": np.float64, "f32": np.float32}

ROWS = """
func.func @rows(%n: index, %m: index, %A: memref<?x?xf64>, %x: memref<?xf64>, %y: memref<?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %0 = affine.load %A[%i, %j] : memref<?x?xf64>
      %1 = affine.load %x[%j] : memref<?xf64>
      %2 = affine.load %y[%i] : memref<?xf64>
      %3 = arith.mulf %0, %1 : f64
      %4 = arith.addf %2, %3 : f64
      affine.store %4, %y[%i] : memref<?xf64>
    }
  }
  return
}
"""
COPY = """
func.func @copy(%n: index, %m: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %0 = affine.load %A[%i, %j] : memref<?x?xf64>
      affine.store %0, %B[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
"""


def table(kind: str, row: str = "i", column: str = "j") -> str:
    text = TABLE.replace("TYPE", kind).replace("SUM", OPERATIONS[kind])
    return text.replace("ROW", row).replace("COLUMN", column)


def jammed(text: str, steps: str, threads: int = 1, extent: int = 200) -> str:
    (function,) = loopwright.load(text).values()
    schedule = function.schedule(steps)
    sizes = infer_extents(function.scop, {"n": extent, "m": extent})
    with ISL_LOCK:
        return str(jammed_loops(schedule, SchedulingContext(sizes, threads)))


@pytest.mark.parametrize("kind", OPERATIONS)
@pytest.mark.parametrize("names", [("i", "j"), ("a", "b")])
def test_rows_of_a_table_wait_side_by_side(zen3: None, kind: str, names: tuple[str, str]) -> None:
    assert jammed(table(kind, *names), "") == f"unroll-and-jam{{loops={names[0]} factor=4}}"


@pytest.mark.parametrize("kind", OPERATIONS)
@pytest.mark.parametrize("shape", [(1, 1), (2, 9), (6, 5), (67, 70)])
def test_results_are_those_of_the_program(kind: str, shape: tuple[int, int]) -> None:
    (function,) = loopwright.load(table(kind)).values()
    rng = np.random.default_rng(0)
    weights = (8 * rng.random(shape)).astype(NUMBERS[kind])
    start = (8 * rng.random(shape)).astype(NUMBERS[kind])
    steps = jammed(table(kind), "")
    assert "unroll-and-jam" in steps
    results = [start.copy(), start.copy()]
    for schedule, result in zip((None, steps), results, strict=True):
        function.compile(schedule, threads=1)(*shape, weights, result)
    np.testing.assert_array_equal(*results)


def test_strips_of_a_parallel_loop_are_parallel(zen3: None) -> None:
    steps = jammed(ROWS, "parallel{loops=i}", threads=2, extent=300)
    assert steps == "parallel{loops=i},unroll-and-jam{loops=i factor=8}"
    (function,) = loopwright.load(ROWS).values()
    assert [loop.parallel for loop in loops(function.schedule(steps).tree)] == [True, False, False]


def test_parallel_loops_of_other_nests_keep_their_mark(zen3: None) -> None:
    """Also where they have the same name."""
    nest = ROWS[ROWS.index("  affine.for") : ROWS.index("  return")]
    two = ROWS.replace(nest, nest + nest)
    for steps in ("parallel{loops=S0.i},parallel{loops=S1.i}", "parallel{loops=S0.i,S1.i}"):
        (function,) = loopwright.load(two).values()
        done = function.schedule(jammed(two, steps, threads=2, extent=300))
        assert "unroll-and-jam{loops=S0.i factor=" in str(done)
        parallel = [loop for loop in loops(done.tree) if loop.parallel]
        assert [statements(loop) for loop in parallel] == [("S0",), ("S1",)]


def test_copies_that_share_nothing_are_not_made(zen3: None) -> None:
    assert jammed(COPY, "vectorize{loops=j width=4}") == "vectorize{loops=j width=4}"


@pytest.mark.parametrize(
    "steps",
    [
        "unroll{loops=i factor=2}",
        # LLVM makes vectors of four copies, as a rule, and not of sixteen.
        "unroll-and-jam{loops=i factor=2}",
        # A vector of rows is made of the one before.
        "skew{loops=i,j factors=1},interchange{loops=j,i},vectorize{loops=i width=4}",
    ],
)
def test_what_copies_would_disturb_is_left_alone(zen3: None, steps: str) -> None:
    assert jammed(table("f64"), steps) == steps


@pytest.mark.parametrize(("extent", "is_left"), [(20, True), (70, False)])
def test_small_programs_gain_as_well(zen3: None, extent: int, is_left: bool) -> None:
    """Those with so little to do that a call takes longer stay as they are."""
    (function,) = loopwright.load(table("f32")).values()
    sizes = infer_extents(function.scop, {"n": extent, "m": extent})
    chosen = default_schedule(function.scop, sizes, threads=1)
    assert (chosen == Schedule.original(function.scop)) == is_left


ORBITS = """
func.func @orbits(%n: index, %m: index, %X: memref<?x?xTYPE>, %Z: memref<?x?xTYPE>) {
  %half = arith.constant 0.5 : TYPE
  affine.for %ROW = 0 to %n {
    affine.for %COLUMN = 0 to %m {
      %x = affine.load %X[%ROW, %COLUMN] : memref<?x?xTYPE>
      %last = affine.for %k = 0 to 50 iter_args(%z = %x) -> TYPE {
        %square = arith.mulf %z, %z : TYPE
        %next = arith.addf %square, %x : TYPE
        %scaled = arith.mulf %next, %half : TYPE
        affine.yield %scaled : TYPE
      }
      affine.store %last, %Z[%ROW, %COLUMN] : memref<?x?xTYPE>
    }
  }
  return
}
"""


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("names", [("i", "j"), ("a", "b")])
def test_recurrences_in_lanes_wait_side_by_side(
    zen3: None, kind: str, names: tuple[str, str]
) -> None:
    """Each operation waits for the one before, also where the value stays in one register."""
    text = ORBITS.replace("TYPE", kind).replace("ROW", names[0]).replace("COLUMN", names[1])
    lanes = 32 // NUMBERS[kind]().itemsize
    steps = jammed(text, f"vectorize{{loops={names[1]} width={lanes}}}", extent=128)
    assert steps.endswith(f"unroll-and-jam{{loops={names[0]} factor=8}}")
    (function,) = loopwright.load(text).values()
    rng = np.random.default_rng(4)
    start = rng.random((13, 21)).astype(NUMBERS[kind])
    results = [np.zeros_like(start), np.zeros_like(start)]
    for schedule, result in zip((None, steps), results, strict=True):
        function.compile(schedule, threads=1)(*start.shape, start, result)
    np.testing.assert_array_equal(*results)


def test_the_best_is_chosen_of_what_candidates_are_when_jammed(zen3: None) -> None:
    """Of two that take as long before, one of which waits."""
    (function,) = loopwright.load(ORBITS.replace("TYPE", "f32")).values()
    context = SchedulingContext(infer_extents(function.scop, {"n": 128, "m": 128}), 1)
    waiting = function.schedule("vectorize{loops=COLUMN width=8}")
    others = [function.schedule(""), function.schedule("unroll{loops=COLUMN factor=2}")]
    with ISL_LOCK:
        chosen, result = jammed_best([*others, waiting], context)
        assert chosen is waiting
        assert estimate(result, context) < 0.5 * estimate(waiting, context)


TWICE = """
func.func @twice(%n: index, %m: index, %x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %0 = affine.load %x[%i floordiv 2, %j floordiv 2] : memref<?x?xf32>
      %1 = affine.load %x[%i floordiv 2, (%j + 1) floordiv 2] : memref<?x?xf32>
      %2 = affine.load %x[(%i + 1) floordiv 2, %j floordiv 2] : memref<?x?xf32>
      %3 = affine.load %x[(%i + 1) floordiv 2, (%j + 1) floordiv 2] : memref<?x?xf32>
      %4 = arith.addf %0, %1 : f32
      %5 = arith.addf %2, %3 : f32
      %6 = arith.addf %4, %5 : f32
      affine.store %6, %y[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
"""


def test_stores_of_short_loops_stay_in_one_row(zen3: None) -> None:
    """LLVM unrolls the short loop, and stores whole vectors of neighbours; not of several rows."""
    assert jammed(TWICE, "tile{loops=j sizes=2}") == "tile{loops=j sizes=2}"


FORMS = """
func.func @forms(%n: index, %m: index, %w: memref<?x?xf64>, %s: memref<?x?xf64>,
                 %v: memref<?xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %q = 0 to %n {
    affine.store %zero, %v[%q] : memref<?xf64>
    affine.for %i = 0 to %m {
      affine.for %j = 0 to %m {
        %0 = affine.load %w[%q, %i] : memref<?x?xf64>
        %1 = affine.load %s[%i, %j] : memref<?x?xf64>
        %2 = affine.load %w[%q, %j] : memref<?x?xf64>
        %3 = arith.mulf %0, %1 : f64
        %4 = arith.mulf %3, %2 : f64
        %5 = affine.load %v[%q] : memref<?xf64>
        %6 = arith.addf %5, %4 : f64
        affine.store %6, %v[%q] : memref<?xf64>
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize(("rows", "is_jammed"), [(256, True), (6, False)])
def test_rows_around_several_loops(rows: int, is_jammed: bool) -> None:
    """Quadratic forms share the matrix, where there are many of them."""
    (function,) = loopwright.load(FORMS).values()
    sizes = infer_extents(function.scop, {"n": rows, "m": 128})
    original = Schedule.original(function.scop, WIDE, reassociate=True)
    with ISL_LOCK:
        found = str(jammed_loops(original, SchedulingContext(sizes, 1)))
    assert ("unroll-and-jam{loops=q" in found) == is_jammed


def test_jammed_rows_around_several_loops_keep_their_results() -> None:
    (function,) = loopwright.load(FORMS).values()
    rng = np.random.default_rng(0)
    w, s = rng.random((23, 9)), rng.random((9, 9))
    results = [np.zeros(23), np.zeros(23)]
    for steps, result in zip((None, "unroll-and-jam{loops=q factor=4}"), results, strict=True):
        function.compile(steps, threads=1)(23, 9, w, s, result)
    np.testing.assert_array_equal(*results)


OTHERS = """
#include <math.h>
void forces(int n, const TYPE x[restrict n][3], TYPE f[restrict n][3]) {
  for (int body = 0; body < n; body++) {
    TYPE fx = 0, fy = 0, fz = 0;
    for (int other = 0; other < n; other++) {
      CONDITION {
        TYPE dx = x[body][0] - x[other][0], dy = x[body][1] - x[other][1];
        TYPE dz = x[body][2] - x[other][2], r = SQRT(dx * dx + dy * dy + dz * dz + SMALL);
        if (r < 2) {
          TYPE e = EXP(1 - r), g = e * (1 - e) / r;
          fx -= g * dx;
          fy -= g * dy;
          fz -= g * dz;
        }
      }
    }
    f[body][0] = fx;
    f[body][1] = fy;
    f[body][2] = fz;
  }
}
"""


@pytest.mark.parametrize("kind", ["double", "float"])
@pytest.mark.parametrize("condition", ["if (body == other) continue; else", "if (other != body)"])
def test_iterations_around_a_hole_are_not_jammed(kind: str, condition: str, tmp_path: Path) -> None:
    """Each copy would have loops of its own around the other one's hole."""
    text = OTHERS.replace("CONDITION", condition).replace("TYPE", kind)
    suffix = "f" if kind == "float" else ""
    for function_name in ("exp", "sqrt"):
        text = text.replace(function_name.upper(), function_name + suffix)
    text = text.replace("SMALL", "1e-9" + suffix)
    path = tmp_path / "forces.c"
    path.write_text(text)
    (function,) = loopwright.load(str(path)).values()
    sizes = infer_extents(function.scop, {"n": 600})
    target = Target.named("sapphirerapids")
    original = Schedule.original(function.scop, target, reassociate=True)
    with ISL_LOCK:
        found = str(jammed_loops(original, SchedulingContext(sizes, 1)))
    assert "unroll-and-jam" not in found


ROLLED = """
func.func @roll(%n: index, %c: index, %s: index, %x: memref<?x?x?xf32>, %y: memref<?x?x?xf32>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      affine.for %k = 0 to %c {
        %0 = arith.addi %i, %s : index
        %1 = arith.remsi %0, %n : index
        %2 = arith.addi %j, %s : index
        %3 = arith.remsi %2, %n : index
        %4 = memref.load %x[%1, %3, %k] : memref<?x?x?xf32>
        affine.store %4, %y[%i, %j, %k] : memref<?x?x?xf32>
      }
    }
  }
  return
}
"""


def test_vectors_of_what_is_not_affine_are_not_disturbed() -> None:
    """Copies would read rows that lie anywhere; LLVM makes no vectors of them."""
    (function,) = loopwright.load(ROLLED).values()
    sizes = infer_extents(function.scop, {"n": 56, "c": 96, "s": 3})
    original = Schedule.original(function.scop, Target.named("sapphirerapids"), reassociate=False)
    shared = original.apply_all(parse_pipeline("parallel{loops=i}"))
    with ISL_LOCK:
        found = jammed_loops(shared, SchedulingContext(sizes, 2))
    assert "unroll-and-jam" not in str(found)


SHORT_SUMS = """
func.func @modes(%n: index, %k: index, %A: memref<?x?x?xTYPE>, %B: memref<?x?xTYPE>,
                 %C: memref<?x?x?xTYPE>) {
  %zero = arith.constant 0.0 : TYPE
  affine.for %OUTER = 0 to %n {
    affine.for %b = 0 to %n {
      affine.for %row = 0 to %n {
        affine.store %zero, %C[%OUTER, %b, %row] : memref<?x?x?xTYPE>
        affine.for %d = 0 to %k {
          %0 = affine.load %C[%OUTER, %b, %row] : memref<?x?x?xTYPE>
          %1 = affine.load %A[%OUTER, %row, %d] : memref<?x?x?xTYPE>
          %2 = affine.load %B[%d, %b] : memref<?x?xTYPE>
          %3 = arith.mulf %1, %2 : TYPE
          %4 = arith.addf %0, %3 : TYPE
          affine.store %4, %C[%OUTER, %b, %row] : memref<?x?x?xTYPE>
        }
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize("element", ["f64", "f32"])
@pytest.mark.parametrize("extent", [16, 32])
def test_vectors_of_short_sums_are_not_disturbed(element: str, extent: int) -> None:
    """LLVM makes scalar code of their copies."""
    for name in ("a", "sheet"):
        text = SHORT_SUMS.replace("TYPE", element).replace("OUTER", name)
        (function,) = loopwright.load(text).values()
        sizes = infer_extents(function.scop, {"n": extent, "k": 16})
        original = Schedule.original(function.scop, Target.named("zen4"), reassociate=True)
        with ISL_LOCK:
            found = jammed_loops(original, SchedulingContext(sizes, 1))
        assert "unroll-and-jam" not in str(found)
