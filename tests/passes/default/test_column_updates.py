"""Finished columns are applied to later ones in blocks, and results stay."""

import numpy as np
import pytest
from support.reference_runs import check_run, function_of

import loopwright
from loopwright.passes.default.column_updates import column_updates
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import loops, loops_around
from loopwright.passes.schedules.schedule import Schedule

DTYPES = {"f32": np.float32, "f64": np.float64}

# Column k is scaled; what later columns have in common with it is taken from them.
DEFLATION = """
func.func @deflation(%m: index, %n: index, %A: memref<?x?xTYPE>, %R: memref<?xTYPE>) {
  %half = arith.constant 0.5 : TYPE
  %zero = arith.constant 0.0 : TYPE
  affine.for %k = 0 to %n {
    affine.for %i = 0 to %m {
      %0 = affine.load %A[%i, %k] : memref<?x?xTYPE>
      %1 = arith.mulf %0, %half : TYPE
      affine.store %1, %A[%i, %k] : memref<?x?xTYPE>
    }
    affine.for %j = affine_map<(d0) -> (d0 + 1)>(%k) to %n {
      affine.store %zero, %R[%j] : memref<?xTYPE>
      affine.for %i = 0 to %m {
        %2 = affine.load %R[%j] : memref<?xTYPE>
        %3 = affine.load %A[%i, %k] : memref<?x?xTYPE>
        %4 = affine.load %A[%i, %j] : memref<?x?xTYPE>
        %5 = arith.mulf %3, %4 : TYPE
        %6 = arith.addf %2, %5 : TYPE
        affine.store %6, %R[%j] : memref<?xTYPE>
      }
      affine.for %i = 0 to %m {
        %7 = affine.load %A[%i, %j] : memref<?x?xTYPE>
        %8 = affine.load %A[%i, %k] : memref<?x?xTYPE>
        %9 = affine.load %R[%j] : memref<?xTYPE>
        %10 = arith.mulf %8, %9 : TYPE
        %11 = arith.subf %7, %10 : TYPE
        affine.store %11, %A[%i, %j] : memref<?x?xTYPE>
      }
    }
  }
  return
}
"""


# Two sets of vectors, one orthogonal to the other: coefficients of each pair are kept. With rows
# from the diagonal on, as in a QR decomposition by reflections.
BIORTHOGONAL = """
func.func @biorthogonal(%m: index, %n: index, %A: memref<?x?xTYPE>, %W: memref<?x?xTYPE>,
                        %V: memref<?x?xTYPE>, %C: memref<?x?xTYPE>) {
  affine.for %c = 0 to %n {
    affine.for %r = 0 to %m {
      %0 = affine.load %A[%r, %c] : memref<?x?xTYPE>
      %1 = affine.load %W[%r, %c] : memref<?x?xTYPE>
      %2 = arith.subf %0, %1 : TYPE
      affine.store %2, %V[%r, %c] : memref<?x?xTYPE>
    }
    affine.for %d = affine_map<(d0) -> (d0 + 1)>(%c) to %n {
      affine.for %r = FIRST to %m {
        %3 = affine.load %C[%c, %d] : memref<?x?xTYPE>
        %4 = affine.load %W[%r, %c] : memref<?x?xTYPE>
        %5 = affine.load %A[%r, %d] : memref<?x?xTYPE>
        %6 = arith.mulf %4, %5 : TYPE
        %7 = arith.addf %3, %6 : TYPE
        affine.store %7, %C[%c, %d] : memref<?x?xTYPE>
      }
      affine.for %r = FIRST to %m {
        %8 = affine.load %A[%r, %d] : memref<?x?xTYPE>
        %9 = affine.load %V[%r, %c] : memref<?x?xTYPE>
        %10 = affine.load %C[%c, %d] : memref<?x?xTYPE>
        %11 = arith.mulf %9, %10 : TYPE
        %12 = arith.addf %8, %11 : TYPE
        affine.store %12, %A[%r, %d] : memref<?x?xTYPE>
      }
    }
  }
  return
}
"""


@pytest.mark.usefixtures("zen3")
@pytest.mark.parametrize("threads", [1, 2])
def test_gram_schmidt_in_blocks(threads: int) -> None:
    function = function_of("polybench/gramschmidt")
    sizes = infer_extents(function.scop, {"m": 1000, "n": 1200})
    chosen = default_schedule(function.scop, sizes, threads=threads, reassociate=True)
    assert "strip-mine{loops=k size=20},split{loops=j at=20kt+20}" in str(chosen)
    assert "pack{loops=kt array=Q order=1,0 reads=S5_2.1,S6_2.1}" in str(chosen)
    assert "fuse{loops=S6_2.i,S5_2.i}" in str(chosen)
    assert any(loop.parallel for loop in loops(chosen.tree)) == (threads == 2)
    for size in ("MINI", "SMALL"):
        check_run("polybench/gramschmidt", chosen, size)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("m", "n"), [(3, 1), (5, 16), (9, 17), (21, 70), (4, 150)])
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_results(kind: str, m: int, n: int, threads: int) -> None:
    function = loopwright.load(DEFLATION.replace("TYPE", kind))["deflation"]
    original = Schedule.original(function.scop)
    sizes = infer_extents(function.scop, {"m": 1500, "n": 1500})
    chosen = column_updates(original, original.tree, SchedulingContext(sizes, threads))
    assert chosen is not None
    generator = np.random.default_rng(m * n)
    matrix = (generator.random((m, n)) / m).astype(DTYPES[kind])
    found, expected = (matrix.copy() for _ in range(2))
    row, other = np.zeros((2, n), matrix.dtype)
    function.compile(chosen, threads=threads)(m, n, found, row)
    function.compile(None)(m, n, expected, other)
    tolerance = 1e-4 if kind == "f32" else 1e-12
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(row, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("m", "n"), [(3, 1), (5, 20), (9, 41), (4, 150)])
@pytest.mark.parametrize(("kind", "first"), [("f32", "0"), ("f64", "0"), ("f64", "%c")])
def test_sums_are_taken_while_columns_are_updated(kind: str, first: str, m: int, n: int) -> None:
    text = BIORTHOGONAL.replace("TYPE", kind).replace("FIRST", first)
    function = loopwright.load(text)["biorthogonal"]
    original = Schedule.original(function.scop)
    sizes = infer_extents(function.scop, {"m": 1500, "n": 1500})
    chosen = column_updates(original, original.tree, SchedulingContext(sizes, 2))
    assert chosen is not None
    assert set(loops_around(chosen.tree, "S2_2")[-1].schedule) == {"S1_2", "S2_2"}
    generator = np.random.default_rng(m * n)
    shapes = ((m, n), (m, n), (m, n), (n, n))
    found = [generator.integers(-1, 2, shape).astype(DTYPES[kind]) / 8 for shape in shapes]
    expected = [array.copy() for array in found]
    function.compile(chosen, threads=2)(m, n, *found)
    function.compile(None)(m, n, *expected)
    for array, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(array, other)


@pytest.mark.parametrize("kernel", ["gemm", "lu", "cholesky", "correlation", "durbin", "adi"])
def test_other_programs_stay(kernel: str) -> None:
    original = Schedule.original(function_of(f"polybench/{kernel}").scop)
    values = dict.fromkeys((p.name for p in original.scop.parameters), 1000)
    sizes = infer_extents(original.scop, values)
    assert column_updates(original, original.tree, SchedulingContext(sizes, 2)) is None


def test_small_ones_stay() -> None:
    original = Schedule.original(function_of("polybench/gramschmidt").scop)
    sizes = infer_extents(original.scop, {"m": 60, "n": 80})
    assert column_updates(original, original.tree, SchedulingContext(sizes, 2)) is None
