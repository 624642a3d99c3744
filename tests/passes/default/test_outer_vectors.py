"""Outer-loop vectorisation: windows and small products, each lane with sums of its own."""

from __future__ import annotations

import re

import numpy as np
import pytest
from support.scops import schedule_of

import loopwright
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.default.outer_vectors import outer_vectors
from loopwright.passes.default.wider_vectors import REGISTERS
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import nests
from loopwright.passes.schedules.schedule import Schedule

TYPES = {"f32": np.float32, "f64": np.float64}

WINDOW = """
func.func @f(
    %x: memref<ROWSxREADxTYPE>, %y: memref<ROWSxREADxTYPE>, %c: memref<ROWSxCOLUMNSxTYPE>) {
  %zero = arith.constant 0.0 : TYPE
  affine.for %OUTER = 0 to ROWS {
    affine.for %INNER = 0 to COLUMNS {
      %s:2 = affine.for %k = 0 to TAPS iter_args(%a = %zero, %b = %zero) -> (TYPE, TYPE) {
        %0 = affine.load %x[%OUTER, %INNER + %k] : memref<ROWSxREADxTYPE>
        %1 = affine.load %y[%OUTER, %INNER + %k] : memref<ROWSxREADxTYPE>
        %2 = arith.mulf %0, %1 : TYPE
        %3 = arith.addf %a, %2 : TYPE
        %4 = arith.addf %b, %0 : TYPE
        affine.yield %3, %4 : TYPE, TYPE
      }
      %5 = arith.subf %s#0, %s#1 : TYPE
      affine.store %5, %c[%OUTER, %INNER] : memref<ROWSxCOLUMNSxTYPE>
    }
  }
  return
}
"""

PRODUCT = """
func.func @f(%A: memref<COUNTxNxNxTYPE>, %B: memref<COUNTxNxNxTYPE>, %C: memref<COUNTxNxNxTYPE>) {
  %zero = arith.constant 0.0 : TYPE
  affine.for %b = 0 to COUNT {
    affine.for %i = 0 to N {
      affine.for %j = 0 to N {
        %s = affine.for %k = 0 to N iter_args(%a = %zero) -> (TYPE) {
          %0 = affine.load %A[%b, %i, %k] : memref<COUNTxNxNxTYPE>
          %1 = affine.load %B[%b, FIRST, SECOND] : memref<COUNTxNxNxTYPE>
          %2 = arith.mulf %0, %1 : TYPE
          %3 = arith.addf %a, %2 : TYPE
          affine.yield %3 : TYPE
        }
        affine.store %s, %C[%b, %i, %j] : memref<COUNTxNxNxTYPE>
      }
    }
  }
  return
}
"""


def filled(text: str, **values: object) -> str:
    for name, value in values.items():
        text = text.replace(name, str(value))
    return text


def answer(text: str, reassociate: bool = False) -> Schedule | None:
    original = Schedule.original(schedule_of(text).scop, reassociate=reassociate)
    (nest,) = nests(original.tree)
    return outer_vectors(original, nest, SchedulingContext(infer_extents(original.scop, {}), 2))


@pytest.mark.parametrize(("kind", "outer", "inner"), [("f64", "i", "j"), ("f32", "row", "at")])
@pytest.mark.parametrize("columns", [50, 64])
@pytest.mark.parametrize("taps", [20, 5])
def test_windows(zen3: None, kind: str, outer: str, inner: str, columns: int, taps: int) -> None:
    text = filled(
        WINDOW,
        OUTER=outer,
        INNER=inner,
        ROWS=12,
        READ=columns + taps,
        COLUMNS=columns,
        TAPS=taps,
        TYPE=kind,
    )
    found = answer(text)
    width = 4 if kind == "f64" else 8
    steps = [] if found is None else [str(step) for step in found.transformations]
    possible = {f"vectorize{{loops={inner} width={each * width}}}" for each in REGISTERS}
    assert possible & {*steps}
    x, y = np.random.default_rng(1).random((2, 12, columns + taps)).astype(TYPES[kind])
    results = np.zeros((2, 12, columns), TYPES[kind])
    for schedule, result in zip((None, str(found)), results, strict=True):
        loopwright.load(text)["f"].compile(schedule, threads=2)(x, y, result)
    assert np.array_equal(results[0], results[1])
    windows = (np.lib.stride_tricks.sliding_window_view(a, taps, 1)[:, :columns] for a in (x, y))
    first, second = windows
    assert np.allclose(results[1], (first * second - first).sum(2), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("n", [3, 4, 7])
def test_small_products(zen3: None, kind: str, n: int) -> None:
    text = filled(PRODUCT, COUNT=33, FIRST="%k", SECOND="%j", TYPE=kind, N=n)
    found = answer(text)
    assert found is not None
    assert "vectorize{loops=j" in str(found)
    a, b = np.random.default_rng(1).random((2, 33, n, n)).astype(TYPES[kind])
    results = np.zeros((2, 33, n, n), TYPES[kind])
    for schedule, result in zip((None, str(found)), results, strict=True):
        loopwright.load(text)["f"].compile(schedule, threads=2)(a, b, result)
    assert np.array_equal(results[0], results[1])
    assert np.allclose(results[1], a @ b, rtol=1e-4)


@pytest.mark.parametrize("kind", TYPES)
def test_windows_are_chosen(zen3: None, kind: str) -> None:
    """Where sums keep their order; with fast math, LLVM makes vectors of the terms."""
    text = filled(WINDOW, OUTER="i", INNER="j", ROWS=128, READ=2128, COLUMNS=2028, TAPS=100)
    scop = schedule_of(text.replace("TYPE", kind)).scop
    chosen = default_schedule(scop, infer_extents(scop, {}), threads=2)
    width = 4 if kind == "f64" else 8
    # Four vectors of sums do not wait for each other.
    assert str(chosen) == f"vectorize{{loops=j width={4 * width}}},parallel{{loops=i}}"


# Bounds that lanes differ in: windows at the borders of rows, products of polynomials, lags.
BORDERS = {
    "max affine_map<(d0) -> (0, -d0 + 3)>": "min affine_map<(d0) -> (7, -d0 + ROWS + 3)>",
    "max affine_map<(d0) -> (0, d0 - 50)>": "min affine_map<(d0) -> (60, d0 + 1)>",
    "affine_map<(d0) -> (d0)>": "affine_map<(d0) -> (ROWS)>",
}
BORDERED = """
func.func @f(%x: memref<ROWSx200xTYPE>, %y: memref<200xTYPE>, %c: memref<40xROWSxTYPE>) {
  %zero = arith.constant 0.0 : TYPE
  affine.for %r = 0 to 40 {
    affine.for %OUTER = 0 to ROWS {
      %s = affine.for %k = LOWER(%OUTER) to UPPER(%OUTER) iter_args(%a = %zero) -> (TYPE) {
        %0 = affine.load %x[%k, %OUTER + 2 * %r] : memref<ROWSx200xTYPE>
        %1 = affine.load %y[%k + %r] : memref<200xTYPE>
        %2 = arith.mulf %0, %1 : TYPE
        %3 = arith.addf %a, %2 : TYPE
        affine.yield %3 : TYPE
      }
      affine.store %s, %c[%r, %OUTER] : memref<40xROWSxTYPE>
    }
  }
  return
}
"""


@pytest.mark.parametrize(("kind", "loop"), [("f64", "i"), ("f32", "column")])
@pytest.mark.parametrize("rows", [100, 83])
@pytest.mark.parametrize("lower", BORDERS)
@pytest.mark.parametrize("target", ["zen3", "zen4"])
def test_lanes_that_leave_loops_at_different_times(
    kind: str, loop: str, rows: int, lower: str, target: str
) -> None:
    text = filled(BORDERED, OUTER=loop, LOWER=lower, UPPER=BORDERS[lower], ROWS=rows, TYPE=kind)
    function = loopwright.load(text)["f"]
    original = Schedule.original(function.scop, Target.named(target))
    (nest,) = nests(original.tree)
    found = outer_vectors(original, nest, SchedulingContext(infer_extents(function.scop, {}), 1))
    assert found is not None and f"vectorize{{loops={loop} width" in str(found)
    chosen = function.default_schedule({}, threads=1, target=Target.named(target))
    # That may have an interior without borders, in lanes of its own.
    assert re.search(rf"vectorize{{loops=(S\d[\d_]*.)?{loop} width", str(chosen)), str(chosen)
    x, y = (np.random.default_rng(1).random(s).astype(TYPES[kind]) for s in ((rows, 200), 200))
    results = np.zeros((3, 40, rows), TYPES[kind])
    for schedule, result in zip((None, str(found), str(chosen)), results, strict=True):
        function.compile(schedule, threads=1, verify=schedule is not None)(x, y, result)
    assert np.array_equal(results[0], results[1]) and np.array_equal(results[0], results[2])


def test_without_masks_lanes_stay_together() -> None:
    lower, upper = next(iter(BORDERS.items()))
    text = filled(BORDERED, OUTER="i", LOWER=lower, UPPER=upper, ROWS=100, TYPE="f32")
    original = Schedule.original(schedule_of(text).scop, Target.named("neoverse-v1"))
    (nest,) = nests(original.tree)
    context = SchedulingContext(infer_extents(original.scop, {}), 1)
    assert outer_vectors(original, nest, context) is None


def test_lanes_far_apart_are_left_alone(zen3: None) -> None:
    assert answer(filled(PRODUCT, COUNT=33, FIRST="%j", SECOND="%k", TYPE="f32", N=8)) is None


def test_rows_that_no_cache_holds_are_left_alone(zen3: None) -> None:
    assert answer(filled(PRODUCT, COUNT=2, FIRST="%k", SECOND="%j", TYPE="f64", N=900)) is None


SOLVES = """
func.func @f(%L: memref<20xNxNxTYPE>, %B: memref<20xNxMxTYPE>) {
  affine.for %FIRST = 0 to FIRST_END {
    affine.for %SECOND = 0 to SECOND_END {
      affine.for %i = 0 to N {
        %0 = affine.load %B[%e, %i, %c] : memref<20xNxMxTYPE>
        %s = affine.for %j = 0 to %i iter_args(%a = %0) -> (TYPE) {
          %1 = affine.load %L[%e, %i, %j] : memref<20xNxNxTYPE>
          %2 = affine.load %B[%e, %j, %c] : memref<20xNxMxTYPE>
          %3 = arith.mulf %1, %2 : TYPE
          %4 = arith.subf %a, %3 : TYPE
          affine.yield %4 : TYPE
        }
        %5 = affine.load %L[%e, %i, %i] : memref<20xNxNxTYPE>
        %6 = arith.divf %s, %5 : TYPE
        affine.store %6, %B[%e, %i, %c] : memref<20xNxMxTYPE>
      }
      STAGE
    }
  }
  return
}
"""

BACKWARDS = """
      affine.for %k = 0 to N {
        %7 = affine.load %B[%e, N - 1 - %k, %c] : memref<20xNxMxTYPE>
        %t = affine.for %l = 0 to %k iter_args(%b = %7) -> (TYPE) {
          %8 = affine.load %L[%e, N - 1 - %l, N - 1 - %k] : memref<20xNxNxTYPE>
          %9 = affine.load %B[%e, N - 1 - %l, %c] : memref<20xNxMxTYPE>
          %10 = arith.mulf %8, %9 : TYPE
          %11 = arith.subf %b, %10 : TYPE
          affine.yield %11 : TYPE
        }
        affine.store %t, %B[%e, N - 1 - %k, %c] : memref<20xNxMxTYPE>
      }
"""


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("order", ["ec", "ce"])
@pytest.mark.parametrize("n, m", [(20, 8), (33, 16), (7, 5)])
@pytest.mark.parametrize("stage", ["", BACKWARDS])
def test_right_hand_sides_around_a_recurrence(
    zen3: None, kind: str, order: str, n: int, m: int, stage: str
) -> None:
    """Lanes along the loop that may have them, where the innermost one with loops inside may not.

    How long the loops inside are depends on other loops.
    """
    ends = {"e": 20, "c": m}
    first, second = order
    text = SOLVES.replace("FIRST_END", str(ends[first])).replace("SECOND_END", str(ends[second]))
    text = filled(text, STAGE=stage, FIRST=first, SECOND=second, TYPE=kind, N=n, M=m)
    found = answer(text)
    assert found is not None and "vectorize{loops=c" in str(found)
    chosen = default_schedule(found.scop, infer_extents(found.scop, {}), threads=1)
    assert order == "ce" or "vectorize{loops=c" in str(chosen)
    generator = np.random.default_rng(1)
    matrices = np.tril(generator.random((20, n, n)) / n + np.eye(n)).astype(TYPES[kind])
    right = generator.random((20, n, m)).astype(TYPES[kind])
    results = [right.copy() for _ in range(2)]
    for schedule, result in zip((None, str(found)), results, strict=True):
        loopwright.load(text)["f"].compile(schedule, threads=2)(matrices, result)
    assert np.array_equal(results[0], results[1])
    assert np.isfinite(results[0]).all() and not np.array_equal(results[0], right)
