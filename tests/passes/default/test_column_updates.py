"""Finished columns are applied to later ones in blocks, and results stay."""

import numpy as np
import pytest
from support.reference_runs import check_run, function_of

import loopwright
from loopwright.passes.default.column_updates import column_updates
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import loops
from loopwright.passes.schedules.schedule import Schedule

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


@pytest.mark.parametrize("threads", [1, 2])
def test_gram_schmidt_in_blocks(threads: int) -> None:
    function = function_of("polybench/gramschmidt")
    sizes = infer_extents(function.scop, {"m": 1000, "n": 1200})
    chosen = default_schedule(function.scop, sizes, threads=threads, reassociate=True)
    assert "strip-mine{loops=k size=16},split{loops=j at=16kt+16}" in str(chosen)
    assert "pack{loops=jt array=Q order=1,0}" in str(chosen)
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
    matrix = (generator.random((m, n)) / m).astype("f4" if kind == "f32" else "f8")
    found, expected = (matrix.copy() for _ in range(2))
    row, other = np.zeros((2, n), matrix.dtype)
    function.compile(chosen, threads=threads)(m, n, found, row)
    function.compile(None)(m, n, expected, other)
    tolerance = 1e-4 if kind == "f32" else 1e-12
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(row, other, rtol=tolerance, atol=tolerance)


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
