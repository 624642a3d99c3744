"""Loads that a block makes in any case, and its conditionals as well."""

import numpy as np
import pytest

import loopwright
from loopwright.lowering.generate import generate

BORDERS = """
func.func @f(%m: index, %n: index, %A: memref<?x?xf64>, %C: memref<?x?xf64>) {
  affine.for %i = 0 to %m {
    affine.for %j = 0 to %n {
      %up = affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%i) -> f64 {
        %0 = affine.load %A[%i - 1, %j] : memref<?x?xf64>
        affine.yield %0 : f64
      } else {
        %1 = affine.load %A[%i, %j] : memref<?x?xf64>
        affine.yield %1 : f64
      }
      %left = affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%j) -> f64 {
        %2 = affine.load %A[%i, %j - 1] : memref<?x?xf64>
        affine.yield %2 : f64
      } else {
        %3 = affine.load %A[%i, %j] : memref<?x?xf64>
        affine.yield %3 : f64
      }
      %4 = affine.load %A[%i, %j] : memref<?x?xf64>
      %5 = arith.subf %up, %left : f64
      %6 = arith.addf %5, %4 : f64
      affine.store %6, %C[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
"""

# What the element was before, and what it is afterwards.
CHANGED = BORDERS.replace(
    "%4 = affine.load", "affine.store %left, %A[%i, %j] : memref<?x?xf64>\n      %4 = affine.load"
)

SCHEDULES = ("parallel{loops=i}", "vectorize{loops=j width=4}", "tile{loops=i,j sizes=3,4}")


def loop_ir(text: str, schedule: str, m: int = 5, n: int = 13) -> str:
    extents = {f"{a}_dim{d}": e for a in "AC" for d, e in enumerate((m, n))}
    return str(generate(loopwright.load(text)["f"].schedule(schedule), {"m": m, "n": n, **extents}))


def test_the_element_itself_is_loaded_once_before_the_conditionals() -> None:
    text = loop_ir(BORDERS, "parallel{loops=i}")
    assert text.count("affine.load %A[%i, %j]") == 1
    assert text.index("affine.load %A[%i, %j]") < text.index("affine.if")


def test_what_a_store_has_changed_is_not_loaded_before() -> None:
    given = np.random.default_rng(1).standard_normal((5, 13))
    function = loopwright.load(CHANGED)["f"]
    results = [np.zeros((5, 13)), np.zeros((5, 13))]
    arrays = [given.copy(), given.copy()]
    function.compile()(5, 13, arrays[0], results[0])
    function.compile(schedule="split{loops=j at=1}", verify=True)(5, 13, arrays[1], results[1])
    np.testing.assert_array_equal(*results)
    np.testing.assert_array_equal(*arrays)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_results_are_the_same_and_proved(schedule: str) -> None:
    for m, n in ((5, 13), (1, 4), (2, 1), (1, 1)):
        given = np.random.default_rng(m + n).standard_normal((m, n))
        results = [np.zeros((m, n)), np.zeros((m, n))]
        function = loopwright.load(BORDERS)["f"]
        function.compile()(m, n, given, results[0])
        kernel = function.compile(schedule=schedule, threads=2, verify=True)
        kernel(m, n, given, results[1])
        assert kernel.verdict is not None and kernel.verdict.is_proved
        np.testing.assert_array_equal(*results)
