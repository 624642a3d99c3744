"""Vectors of sums: in registers where these are few, else without masks, which loads wait for."""

import numpy as np
import pytest

from loopwright.lowering.generate import generate
from loopwright.passes.machine.target import Target
from loopwright.runtime.program import load

SOLVE = """func.func @solve(%n: index, %m: index, %B: memref<?x?xf64>, %L: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to affine_map<(i) -> (i)>(%i) {
      affine.for %k = 0 to %m {
        %b = affine.load %B[%i, %k] : memref<?x?xf64>
        %l = affine.load %L[%i, %j] : memref<?x?xf64>
        %x = affine.load %B[%j, %k] : memref<?x?xf64>
        %p = arith.mulf %l, %x : f64
        %s = arith.subf %b, %p : f64
        affine.store %s, %B[%i, %k] : memref<?x?xf64>
      }
    }
  }
  return
}"""


def emitted(columns: int) -> str:
    schedule = load(SOLVE)["solve"].schedule("vectorize{loops=k width=8}", Target.named("zen4"))
    return str(generate(schedule, {"n": 30, "m": columns, "B_dim1": columns, "L_dim1": 30}))


@pytest.mark.parametrize(("columns", "masks"), [(24, 0), (27, 1), (403, 0)])
def test_rows_stay_in_registers_or_end_in_shorter_vectors(columns: int, masks: int) -> None:
    """A row of 27 elements is three vectors and a masked one; that of 403 ends with two and one."""
    text = emitted(columns)
    assert ("maskedstore" in text) == bool(masks)
    assert ("iter_args" in text) == (columns < 100)


@pytest.mark.parametrize("columns", [1, 7, 24, 27, 130, 403])
def test_solutions_are_right(columns: int) -> None:
    (function,) = load(SOLVE).values()
    random = np.random.default_rng(columns)
    b, lower = random.random((30, columns)), random.random((30, 30)) / 30
    expected = b.copy()
    function.compile(schedule=None)(30, columns, expected, lower)
    function.compile(schedule="vectorize{loops=k width=8}", verify=True)(30, columns, b, lower)
    np.testing.assert_array_equal(b, expected)
