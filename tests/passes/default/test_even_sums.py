"""Sums of an odd number of products of short integers run in pairs, but for the last one."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.machine.target import Target
from loopwright.runtime.program import Function

PRODUCT = """
func.func @f(%n: index, %m: index, %k: index, %A: memref<?x?xi8>, %B: memref<?x?xi8>,
             %C: memref<?x?xi32>) {
  %zero = arith.constant 0 : i32
  affine.for %ROW = 0 to %n {
    affine.for %j = 0 to %m {
      affine.store %zero, %C[%ROW, %j] : memref<?x?xi32>
      affine.for %q = 0 to %k {
        %0 = affine.load %C[%ROW, %j] : memref<?x?xi32>
        %1 = affine.load %A[%ROW, %q] : memref<?x?xi8>
        %2 = affine.load %B[SECOND] : memref<?x?xi8>
        %3 = arith.extsi %1 : i8 to i32
        %4 = arith.extsi %2 : i8 to i32
        %5 = arith.muli %3, %4 : i32
        %6 = arith.addi %0, %5 : i32
        affine.store %6, %C[%ROW, %j] : memref<?x?xi32>
      }
    }
  }
  return
}
"""


def product(second: str, element: str = "i8", row: str = "i") -> Function:
    text = PRODUCT.replace("SECOND", second).replace("ROW", row)
    return loopwright.load(text.replace("xi8", f"x{element}").replace(": i8", f": {element}"))["f"]


@pytest.mark.parametrize("target", ["zen4", "zen3"])
@pytest.mark.parametrize(
    ("second", "element", "row"),
    [("%q, %j", "i8", "i"), ("%j, %q", "i8", "line"), ("%q, %j", "i16", "line")],
)
def test_the_last_term_is_cut_off(second: str, target: str, element: str, row: str) -> None:
    function = product(second, element, row)
    for terms, is_odd in ((254, False), (255, True)):
        shape = (terms, 200) if second == "%q, %j" else (200, terms)
        sizes = {"n": 128, "m": 200, "k": terms, "A_dim0": 128, "A_dim1": terms, "C_dim0": 128}
        sizes |= {"C_dim1": 200, "B_dim0": shape[0], "B_dim1": shape[1]}
        found = default_schedule(function.scop, sizes, Target.named(target), threads=2)
        assert ("split{loops=q at=k-1}" in str(found)) == is_odd


@pytest.mark.parametrize("second", ["%q, %j", "%j, %q"])
def test_results_are_exact(second: str) -> None:
    function = product(second)
    generator = np.random.default_rng(1)
    for n, m, k in ((33, 40, 27), (7, 64, 9), (40, 33, 65), (3, 5, 1)):
        a = generator.integers(-128, 128, (n, k), dtype=np.int8)
        b = generator.integers(-128, 128, (k, m), dtype=np.int8)
        result = np.zeros((n, m), np.int32)
        given = b if second == "%q, %j" else np.ascontiguousarray(b.T)
        kernel = function.compile("default", threads=2, verify=True)
        kernel(n, m, k, a, given, result)
        np.testing.assert_array_equal(result, a.astype(np.int32) @ b.astype(np.int32))
