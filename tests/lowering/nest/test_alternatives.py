"""Statements that compute one local value under opposite conditions."""

import numpy as np
import pytest

import loopwright
from loopwright.lowering.generate import generate

CHAIN = """
func.func @f(%n: index, %A: memref<?xf64>, %C: memref<?xf64>) {
  affine.for %j = 0 to %n {
    %v = affine.if affine_set<(d0) : (CONDITION)>(%j) -> f64 {
      %0 = affine.load %A[%j floordiv 2] : memref<?xf64>
      affine.yield %0 : f64
    } else {
      %w = affine.if affine_set<(d0)[s0] : (s0 - d0 - 2 >= 0)>(%j)[%n] -> f64 {
        %1 = affine.load %A[%j] : memref<?xf64>
        affine.yield %1 : f64
      } else {
        %2 = affine.load %A[0] : memref<?xf64>
        affine.yield %2 : f64
      }
      affine.yield %w : f64
    }
    affine.store %v, %C[%j] : memref<?xf64>
  }
  return
}
"""

CONDITIONS = ("d0 == 0", "d0 - 3 >= 0", "d0 mod 2 == 0", "-d0 + 5 >= 0, d0 - 2 >= 0")


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("schedule", ["parallel{loops=j}", "tile{loops=j sizes=4}"])
def test_values_are_right_and_proved(condition: str, schedule: str) -> None:
    function = loopwright.load(CHAIN.replace("CONDITION", condition))["f"]
    for n in (1, 2, 3, 9):
        given = np.arange(1.0, n + 1)
        kernel = function.compile(schedule=schedule, threads=2, verify=True)
        results = [np.zeros(n), np.zeros(n)]
        function.compile()(n, given, results[0])
        kernel(n, given, results[1])
        assert kernel.verdict is not None and kernel.verdict.is_proved
        np.testing.assert_array_equal(*results)


def test_a_value_of_the_first_iteration_needs_no_array_for_all() -> None:
    function = loopwright.load(CHAIN.replace("CONDITION", "d0 == 0"))["f"]
    text = str(generate(function.schedule("parallel{loops=j}"), {"n": 9, "A_dim0": 9, "C_dim0": 9}))
    assert "alloc" not in text
