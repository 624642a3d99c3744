"""Vectors that store lane by lane: what is left of them, also where bounds leave nothing."""

import numpy as np
import pytest

from loopwright.lowering.generate import generate
from loopwright.runtime.program import load

COLUMNS = """func.func @columns(%n: index, %m: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  affine.for %j = 0 to %m {
    affine.for %i = 1 to affine_map<()[n] -> (n - 1)>()[%n] {
      %0 = affine.load %A[%i, %j] : memref<?x?xf64>
      affine.store %0, %B[%i, %j] : memref<?x?xf64>
    }
  }
  return
}"""


def test_less_than_no_iterations_store_nothing() -> None:
    """The code for any size: vectors, and from where these end or the loop begins, scalars."""
    schedule = load(COLUMNS)["columns"].schedule("vectorize{loops=i width=8}")
    text = str(generate(schedule, {"m": 5, "A_dim1": 5, "B_dim1": 5}))
    assert "max affine_map" in text


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 9, 10, 11, 40])
def test_columns_are_copied(rows: int) -> None:
    matrix = np.random.default_rng(rows).random((rows, 5))
    copied, expected = np.zeros_like(matrix), np.zeros_like(matrix)
    expected[1:-1] = matrix[1:-1]
    kernel = load(COLUMNS)["columns"].compile(schedule="vectorize{loops=i width=8}", verify=True)
    kernel(rows, 5, matrix, copied)
    np.testing.assert_array_equal(copied, expected)
