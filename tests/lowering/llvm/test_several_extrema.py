"""Several minima or maxima that leave out NaN, in one loop and in loops inside."""

from __future__ import annotations

import numpy as np
import pytest
from support.machine_code import NUMPY_TYPES

import loopwright

OPERATIONS = {"maxnumf": np.fmax, "minnumf": np.fmin}
SIZES = (0, 1, 2, 3, 7, 9, 14, 15, 16, 17, 31, 33)

# Rows whose maxima lie next to each other; with the loops changed, one loop has all of them.
ROWS = """
func.func @f(%n: index, %A: memref<?x14xTYPE>, %M: memref<14xTYPE>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 14 {
      %a = affine.load %A[%i, %j] : memref<?x14xTYPE>
      %m = affine.load %M[%j] : memref<14xTYPE>
      %r = arith.OPERATION %m, %a : TYPE
      affine.store %r, %M[%j] : memref<14xTYPE>
    }
  }
  return
}
"""


def beside_each_other(count: int, operation: str, kind: str) -> str:
    lines = [f"func.func @f(%n: index, %A: memref<?x14x{kind}>, %M: memref<14x{kind}>) {{"]
    lines.append("affine.for %i = 0 to %n {")
    for j in range(count):
        lines += [
            f"%a{j} = affine.load %A[%i, {j}] : memref<?x14x{kind}>",
            f"%m{j} = affine.load %M[{j}] : memref<14x{kind}>",
            f"%r{j} = arith.{operation} %m{j}, %a{j} : {kind}",
            f"affine.store %r{j}, %M[{j}] : memref<14x{kind}>",
        ]
    return "\n".join([*lines, "}", "return", "}"])


def check(text: str, count: int, operation: str, kind: str, fast_math: bool) -> None:
    function = loopwright.load(text)["f"]
    for schedule in ("", "default", "interchange{loops=i,j}" if "%j =" in text else ""):
        kernel = function.compile(schedule, threads=1, fast_math=fast_math)
        for n in SIZES:
            generator = np.random.default_rng(n)
            rows = generator.standard_normal((n, 14)).astype(NUMPY_TYPES[kind])
            if n and not fast_math and n % 3 == 0:
                rows[generator.integers(n), generator.integers(14)] = np.nan
            most = generator.standard_normal(14).astype(NUMPY_TYPES[kind])
            expected = OPERATIONS[operation].reduce(np.vstack([most[None], rows]), axis=0)
            expected[count:] = most[count:]
            kernel(n, rows, most)
            np.testing.assert_array_equal(most, expected)


@pytest.mark.parametrize("fast_math", [False, True])
@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("count", [1, 2, 5, 14])
def test_in_one_loop(count: int, operation: str, kind: str, fast_math: bool) -> None:
    check(beside_each_other(count, operation, kind), count, operation, kind, fast_math)


@pytest.mark.parametrize("fast_math", [False, True])
@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_in_loops_inside(operation: str, kind: str, fast_math: bool) -> None:
    text = ROWS.replace("TYPE", kind).replace("OPERATION", operation)
    check(text, 14, operation, kind, fast_math)
