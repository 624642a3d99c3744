"""Partial results of reductions: in vectors, on threads, of sums, products, minima and maxima."""

import numpy as np
import pytest

import loopwright
from loopwright.passes.schedules.errors import MalformedTransformation


def reduction(operation: str, kind: str) -> str:
    return f"""
func.func @reduce(%n: index, %m: index, %A: memref<?x?x{kind}>, %s: memref<?x{kind}>) {{
  affine.for %i = 0 to %n {{
    affine.for %k = 0 to %m {{
      %0 = affine.load %A[%i, %k] : memref<?x?x{kind}>
      %1 = affine.load %s[%i] : memref<?x{kind}>
      %2 = {operation} %1, %0 : {kind}
      affine.store %2, %s[%i] : memref<?x{kind}>
    }}
  }}
  return
}}
"""


SCHEDULES = {
    "lanes": "strip-mine{loops=k size=4},rfactor{loops=k},vectorize{loops=S0.k width=4}",
    "several vectors": (
        "strip-mine{loops=k size=16},rfactor{loops=k},vectorize{loops=S0.k width=4},"
        "unroll{loops=S0.k}"
    ),
    "threads": "tile{loops=k sizes=10},rfactor{loops=kt},parallel{loops=S0.kt}",
    "columns first": "interchange{loops=k,i},tile{loops=k sizes=8},rfactor{loops=kt},"
    "parallel{loops=S0.kt},vectorize{loops=S0.i width=4}",
    "all": "rfactor{loops=k}",
}

OPERATIONS = {
    ("arith.addi", "i64"): np.add,
    ("arith.muli", "i64"): np.multiply,
    ("arith.maxsi", "i32"): np.maximum,
    ("arith.minui", "i32"): None,
    ("arith.addf", "f64"): np.add,
    ("arith.maximumf", "f32"): np.maximum,
}


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize(("operation", "kind"), OPERATIONS)
@pytest.mark.parametrize("shape", [(3, 50), (5, 7), (1, 0), (9, 16)])
def test_reductions(name: str, operation: str, kind: str, shape: tuple[int, int]) -> None:
    element = np.dtype({"i": "int", "f": "float"}[kind[0]] + kind[1:])
    generator = np.random.default_rng(3)
    matrix = generator.integers(1, 9, shape).astype(element)
    start = generator.integers(1, 9, shape[0]).astype(element)
    program = loopwright.load(reduction(operation, kind))["reduce"]
    expected, found = start.copy(), start.copy()
    program.compile()(*shape, matrix, expected)
    combine = OPERATIONS[operation, kind]
    if combine is not None:
        np.testing.assert_array_equal(
            expected, combine(start, combine.reduce(matrix, axis=1)) if shape[1] else start
        )
    program.compile(schedule=SCHEDULES[name], threads=3, fast_math=True)(*shape, matrix, found)
    np.testing.assert_array_equal(found, expected)


def test_rounded_sums_need_permission() -> None:
    program = loopwright.load(reduction("arith.addf", "f64"))["reduce"]
    with pytest.raises(MalformedTransformation, match="allow reassociation with fast_math=True"):
        program.schedule("rfactor{loops=k}")
    flagged = reduction("arith.addf", "f64").replace("%1, %0 :", "%1, %0 fastmath<reassoc> :")
    loopwright.load(flagged)["reduce"].schedule("rfactor{loops=k}")


def test_what_does_not_accumulate() -> None:
    program = loopwright.load(reduction("arith.addi", "i64"))["reduce"]
    with pytest.raises(MalformedTransformation, match=r"must accumulate along i.*none does"):
        program.schedule("rfactor{loops=i}")


def test_a_reduction_that_is_watched() -> None:
    text = """
func.func @prefix(%m: index, %A: memref<?xi64>, %s: memref<i64>, %P: memref<?xi64>) {
  affine.for %k = 0 to %m {
    %0 = affine.load %A[%k] : memref<?xi64>
    %1 = affine.load %s[] : memref<i64>
    %2 = arith.addi %1, %0 : i64
    affine.store %2, %s[] : memref<i64>
    %3 = affine.load %s[] : memref<i64>
    affine.store %3, %P[%k] : memref<?xi64>
  }
  return
}
"""
    with pytest.raises(MalformedTransformation, match="S1 uses s inside k"):
        loopwright.load(text)["prefix"].schedule("rfactor{loops=k}")
