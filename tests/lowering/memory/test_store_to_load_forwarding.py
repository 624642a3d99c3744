"""Values that go from a store to a load in a register, and stores that nothing sees."""

import numpy as np

import loopwright
from loopwright.lowering.generate import generate

LAYER = """
func.func @f(%m: index, %n: index, %A: memref<?x?xf64>, %w: memref<?xf64>, %B: memref<?x?xf64>,
             %C: memref<?x?xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to %m {
    affine.for %j = 0 to %n {
      %0 = affine.load %w[0] : memref<?xf64>
      affine.store %0, %B[%i, %j] : memref<?x?xf64>
      affine.for %k = 0 to %m {
        %1 = affine.load %B[%i, %j] : memref<?x?xf64>
        %2 = affine.load %A[%k, %j] : memref<?x?xf64>
        %3 = arith.addf %1, %2 : f64
        affine.store %3, %B[%i, %j] : memref<?x?xf64>
      }
      %4 = affine.load %B[%i, %j] : memref<?x?xf64>
      %5 = arith.maximumf %4, %zero : f64
      affine.store %5, %C[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
"""

# Reads what another iteration of j has stored, between two stores to one place.
NEIGHBOUR = LAYER.replace("%4 = affine.load %B[%i, %j]", "%4 = affine.load %B[%i, 0]")

SCHEDULES = ("unroll{loops=j factor=4}", "unroll{loops=j},unroll{loops=k}", "parallel{loops=i}")


def loop_ir(text: str, schedule: str = "unroll{loops=j factor=4}", m: int = 5, n: int = 12) -> str:
    names = {"A": (m, n), "B": (m, n), "C": (m, n), "w": (m,)}
    extents = {f"{a}_dim{d}": e for a, shape in names.items() for d, e in enumerate(shape)}
    return str(generate(loopwright.load(text)["f"].schedule(schedule), {"m": m, "n": n, **extents}))


def test_only_the_last_store_of_a_sum_is_left_and_nothing_loads_it() -> None:
    text = loop_ir(LAYER, "vectorize{loops=j width=4}")
    assert text.count("vector_store %2, %B[%i, %j]") == 1
    assert text.count("%B[") == 1
    assert "iter_args" in text


def test_an_element_that_may_be_another_is_loaded() -> None:
    text = loop_ir(NEIGHBOUR, n=13)
    assert "affine.load %B[%i, 0]" in text
    assert text.count("affine.load %B") == 4 + 1, "also after the unrolled part"


def test_results_are_the_same() -> None:
    for text in (LAYER, NEIGHBOUR):
        for schedule in SCHEDULES:
            m, n = 5, 13
            generator = np.random.default_rng(1)
            a, w = generator.random((m, n)) - 0.5, generator.random(m)
            expected, found = (
                [np.zeros((m, n)), np.zeros((m, n))],
                [np.zeros((m, n)), np.zeros((m, n))],
            )
            function = loopwright.load(text)["f"]
            function.compile(None)(m, n, a, w, *expected)
            function.compile(schedule)(m, n, a, w, *found)
            np.testing.assert_array_equal(found, expected)
