"""Values that both branches of a conditional store, handed over in registers."""

import numpy as np
import pytest

import loopwright
from loopwright.lowering.generate import generate

FIRST_ROW = """
func.func @f(%m: index, %n: index, %A: memref<?x?xf64>, %C: memref<?x?xf64>) {
  affine.for %i = 0 to %m {
    affine.for %j = 0 to %n {
      %up = affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%i) -> f64 {
        %0 = affine.load %A[%i - 1, %j] : memref<?x?xf64>
        affine.yield %0 : f64
      } else {
        %1 = affine.load %A[%i, 0] : memref<?x?xf64>
        %2 = arith.addf %1, %1 : f64
        affine.yield %2 : f64
      }
      %3 = affine.load %A[%i, %j] : memref<?x?xf64>
      %4 = arith.mulf %up, %3 : f64
      affine.store %4, %C[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
"""

CHAIN = """
func.func @f(%m: index, %n: index, %A: memref<?x?xf64>, %C: memref<?x?xf64>) {
  affine.for %i = 0 to %m {
    affine.for %j = 0 to %n {
      %0 = affine.load %A[%i, %j] : memref<?x?xf64>
      %1 = arith.addf %0, %0 : f64
      %v = affine.if affine_set<(d0) : (d0 - 3 >= 0)>(%i) -> f64 {
        %2 = affine.load %A[%i - 3, %j] : memref<?x?xf64>
        affine.yield %2 : f64
      } else {
        %w = affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%i) -> f64 {
          %3 = affine.load %A[%i, %j] : memref<?x?xf64>
          affine.yield %3 : f64
        } else {
          %4 = affine.load %A[%i, 0] : memref<?x?xf64>
          affine.yield %4 : f64
        }
        affine.yield %w : f64
      }
      %u = affine.if affine_set<(d0) : (d0 - 2 >= 0)>(%i) -> f64 {
        affine.yield %v : f64
      } else {
        affine.yield %1 : f64
      }
      %5 = arith.mulf %v, %u : f64
      affine.store %5, %C[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
"""

SCHEDULES = ("parallel{loops=i}", "vectorize{loops=j width=4}", "vectorize{loops=j width=8}")


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_no_value_goes_through_memory(schedule: str) -> None:
    sizes = {"m": 5, "n": 16, "A_dim0": 5, "A_dim1": 16, "C_dim0": 5, "C_dim1": 16}
    text = str(generate(loopwright.load(FIRST_ROW)["f"].schedule(schedule), sizes))
    assert "affine.if" in text
    assert "alloc" not in text


@pytest.mark.parametrize("text", [FIRST_ROW, CHAIN])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_results_are_the_same_and_proved(schedule: str, text: str) -> None:
    for m, n in ((5, 16), (3, 13), (1, 5), (2, 1)):
        given = np.random.default_rng(m + n).standard_normal((m, n))
        results = [np.zeros((m, n)), np.zeros((m, n))]
        function = loopwright.load(text)["f"]
        function.compile()(m, n, given, results[0])
        kernel = function.compile(schedule=schedule, threads=2, verify=True)
        kernel(m, n, given, results[1])
        assert kernel.verdict is not None and kernel.verdict.is_proved
        np.testing.assert_array_equal(*results)


SUBSCRIPTS = """
func.func @f(%n: index, %A: memref<16xindex>, %C: memref<?x16xindex>) {
  affine.for %i = 0 to %n {
    affine.for %k = 0 to 9 {
      %v = memref.alloca() : memref<16xindex>
      affine.for %q = 0 to 16 {
        %0 = affine.load %A[%q] : memref<16xindex>
        affine.store %0, %v[%q] : memref<16xindex>
      }
      affine.if affine_set<(d0) : (d0 - 2 >= 0)>(%i) {
        affine.store %i, %v[%i] : memref<16xindex>
      } else {
        affine.store %k, %v[%k] : memref<16xindex>
      }
      affine.for %q = 0 to 16 {
        %1 = affine.load %v[%q] : memref<16xindex>
        %2 = affine.load %C[%i, %q] : memref<?x16xindex>
        %3 = arith.addi %1, %2 : index
        affine.store %3, %C[%i, %q] : memref<?x16xindex>
      }
    }
  }
  return
}
"""


def test_values_that_are_subscripts_of_different_places() -> None:
    given, results = np.arange(100, 116), [np.zeros((7, 16), dtype=np.int64) for _ in range(2)]
    function = loopwright.load(SUBSCRIPTS)["f"]
    function.compile(None)(7, given, results[0])
    function.compile("parallel{loops=i}", threads=1, verify=True)(7, given, results[1])
    np.testing.assert_array_equal(*results)
