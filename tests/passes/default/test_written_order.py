"""Programs that are best in the order in which they are written, but with vectors of ours."""

from collections.abc import Mapping

import numpy as np
import pytest
from support.targets import NARROW, WIDE

import loopwright
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.default.strict_order_reductions import strict_order_reductions
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import functions_text
from loopwright.passes.schedules.schedule import Schedule

UPSAMPLING = """
func.func @f(%h: index, %w: index, %A: memref<?x?xTYPE>, %B: memref<?x?xTYPE>) {
  affine.for %y = 0 to %h {
    affine.for %x = 0 to %w {
      %0 = affine.load %A[%y, %x] : memref<?x?xTYPE>
      %1 = affine.load %A[%y, %x + 1] : memref<?x?xTYPE>
      %2 = arith.addf %0, %1 : TYPE
      affine.store %0, %B[%y, 2 * %x] : memref<?x?xTYPE>
      affine.store %2, %B[%y, 2 * %x + 1] : memref<?x?xTYPE>
    }
  }
  return
}
"""

POOLING = """
func.func @f(%h: index, %w: index, %A: memref<?x?xTYPE>, %B: memref<?x?xTYPE>) {
  affine.for %y = 0 to %h {
    affine.for %x = 0 to %w {
      %0 = affine.load %A[2 * %y, 2 * %x] : memref<?x?xTYPE>
      affine.store %0, %B[%y, %x] : memref<?x?xTYPE>
      affine.for %u = 0 to 3 {
        affine.for %v = 0 to 3 {
          %1 = affine.load %B[%y, %x] : memref<?x?xTYPE>
          %2 = affine.load %A[2 * %y + %u, 2 * %x + %v] : memref<?x?xTYPE>
          %3 = arith.maximumf %1, %2 : TYPE
          affine.store %3, %B[%y, %x] : memref<?x?xTYPE>
        }
      }
    }
  }
  return
}
"""

STENCIL = """
func.func @f(%h: index, %w: index, %A: memref<?x?xTYPE>, %B: memref<?x?xTYPE>) {
  affine.for %y = 0 to %h {
    affine.for %x = 0 to %w {
      %0 = affine.load %A[%y, %x] : memref<?x?xTYPE>
      %1 = affine.load %A[%y, %x + 1] : memref<?x?xTYPE>
      %2 = affine.load %A[%y, %x + 2] : memref<?x?xTYPE>
      %3 = affine.load %A[%y + 1, %x + 1] : memref<?x?xTYPE>
      %4 = arith.addf %0, %1 : TYPE
      %5 = arith.addf %4, %2 : TYPE
      %6 = arith.mulf %5, %3 : TYPE
      affine.store %6, %B[%y, %x] : memref<?x?xTYPE>
    }
  }
  return
}
"""

LARGEST = """
func.func @f(%n: index, %m: index, %A: memref<?x?xTYPE>, %s: memref<?xTYPE>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %0 = affine.load %s[%i] : memref<?xTYPE>
      %1 = affine.load %A[%i, %j] : memref<?x?xTYPE>
      %2 = arith.OPERATION %0, %1 : TYPE
      affine.store %2, %s[%i] : memref<?xTYPE>
    }
  }
  return
}
"""

TYPES = {"f32": np.float32, "f64": np.float64}


def chosen_for(text: str, sizes: Mapping[str, int], target: Target, threads: int = 1) -> Schedule:
    scop = loopwright.load(text)["f"].scop
    return default_schedule(scop, infer_extents(scop, dict(sizes)), target, threads=threads)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("program", [UPSAMPLING, POOLING, STENCIL])
@pytest.mark.parametrize("target", [WIDE, NARROW], ids=["avx512", "avx2"])
@pytest.mark.parametrize(("h", "w"), [(154, 540), (321, 222)])
def test_vectors_are_marked_where_nothing_else_is_better(
    program: str, kind: str, target: Target, h: int, w: int
) -> None:
    text = program.replace("TYPE", kind)
    chosen = chosen_for(text, {"h": h, "w": w}, target)
    original = Schedule.original(chosen.program)
    assert "vectorize" in str(chosen)
    assert functions_text(chosen.tree) == functions_text(original.tree)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("program", [UPSAMPLING, POOLING, STENCIL])
@pytest.mark.parametrize(("h", "w"), [(1, 1), (3, 17), (5, 64), (2, 131), (7, 270)])
def test_results_are_those_of_the_program(program: str, kind: str, h: int, w: int) -> None:
    text = program.replace("TYPE", kind)
    function = loopwright.load(text)["f"]
    schedule = str(chosen_for(text, {"h": 154, "w": 540}, Target.host()))
    a = np.random.default_rng(h * w).standard_normal((2 * h + 2, 2 * w + 2)).astype(TYPES[kind])
    a[h // 2, w // 2] = np.nan
    if program is not POOLING:
        a = a[: h + 1, : w + 2].copy()
    b = np.zeros((h, 2 * w if program is UPSAMPLING else w), TYPES[kind])
    expected = b.copy()
    function.compile()(h, w, a, expected)
    function.compile(schedule)(h, w, a, b)
    np.testing.assert_array_equal(b, expected)


@pytest.mark.parametrize("kind", TYPES)
def test_vectors_that_share_neighbours_are_unrolled(kind: str) -> None:
    """Only vectors as long as a cache line cross the border of two everywhere."""
    text = STENCIL.replace("TYPE", kind)
    assert "factor=4" in str(chosen_for(text, {"h": 154, "w": 540}, WIDE))
    assert "factor" not in str(chosen_for(text, {"h": 154, "w": 540}, NARROW))
    assert "factor" not in str(chosen_for(text, {"h": 1540, "w": 40}, WIDE)), "rows are short"
    alone = text.replace("%x + 1]", "%x]").replace("%x + 2]", "%x]")
    assert "factor" not in str(chosen_for(alone, {"h": 154, "w": 540}, WIDE))


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("operation", ["maximumf", "minimumf"])
def test_exact_extrema_of_rows_are_not_put_in_lanes(kind: str, operation: str) -> None:
    """They are accumulated along the row, in any order; sums are not."""
    for name, has_order in ((operation, False), ("addf", True)):
        text = LARGEST.replace("TYPE", kind).replace("OPERATION", name)
        original = Schedule.original(loopwright.load(text)["f"].scop)
        sizes = infer_extents(original.scop, {"n": 424, "m": 2904})
        found = strict_order_reductions(original, original.tree, SchedulingContext(sizes, 1))
        assert (found is not None) == has_order


ADAPTIVE = """
func.func @f(%x: memref<4032xTYPE>, %d: memref<4000xTYPE>, %w: memref<TAPSxTYPE>,
             %e: memref<4000xTYPE>) {
  affine.for %i = 0 to 4000 {
    %0 = affine.load %d[%i] : memref<4000xTYPE>
    affine.store %0, %e[%i] : memref<4000xTYPE>
    affine.for %k = 0 to TAPS {
      %1 = affine.load %e[%i] : memref<4000xTYPE>
      %2 = affine.load %w[%k] : memref<TAPSxTYPE>
      %3 = affine.load %x[%i + %k] : memref<4032xTYPE>
      %4 = arith.mulf %2, %3 : TYPE
      %5 = arith.subf %1, %4 : TYPE
      affine.store %5, %e[%i] : memref<4000xTYPE>
    }
    affine.for %k = 0 to TAPS {
      %1 = affine.load %e[%i] : memref<4000xTYPE>
      %2 = affine.load %w[%k] : memref<TAPSxTYPE>
      %3 = affine.load %x[%i + %k] : memref<4032xTYPE>
      %4 = arith.mulf %1, %3 : TYPE
      %5 = arith.addf %2, %4 : TYPE
      affine.store %5, %w[%k] : memref<TAPSxTYPE>
    }
  }
  return
}
"""


@pytest.mark.parametrize(("kind", "taps"), [("f32", 32), ("f32", 16), ("f64", 32)])
def test_no_vectors_of_some_loops_where_llvm_makes_all(kind: str, taps: int) -> None:
    """With marked vectors beside it, the sum of an adaptive filter would be packed from copies."""
    text = ADAPTIVE.replace("TYPE", kind).replace("TAPS", str(taps))
    scop = loopwright.load(text)["f"].scop
    assert not default_schedule(scop, {}, WIDE, threads=1, reassociate=True).transformations
