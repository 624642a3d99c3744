"""Private arrays of vector loops: elements of neighbouring iterations are neighbours."""

from typing import Any

import numpy as np
import pytest

from loopwright import load

BATCH = """
func.func @f(%A: memref<37x3x5xf32>, %B: memref<37x5x3xf32>) {
  affine.for %b = 0 to 37 {
    %T = memref.alloca() : memref<5x3xf32>
    affine.for %i = 0 to 3 {
      affine.for %j = 0 to 5 {
        %0 = affine.load %A[%b, %i, %j] : memref<37x3x5xf32>
        %1 = arith.addf %0, %0 : f32
        affine.store %1, %T[%j, %i] : memref<5x3xf32>
      }
    }
    affine.for %k = 0 to 5 {
      affine.for %l = 0 to 3 {
        %2 = affine.load %T[%k, %l] : memref<5x3xf32>
        %3 = affine.load %T[4 - %k, 2 - %l] : memref<5x3xf32>
        %4 = arith.mulf %2, %3 : f32
        affine.store %4, %B[%b, %k, %l] : memref<37x5x3xf32>
      }
    }
  }
  return
}
"""


def results(pipeline: str | None) -> tuple[Any, str]:
    kernel = load(BATCH)["f"].compile(pipeline, threads=1, verify=pipeline is not None)
    source = np.random.default_rng(0).random((37, 3, 5), np.float32)
    result = np.zeros((37, 5, 3), np.float32)
    kernel(source, result)
    return result, kernel.specialise(source, result).code.loop_ir


@pytest.mark.parametrize(
    "pipeline, shape",
    [
        ("vectorize{loops=b width=8}", "5x3x37"),
        ("strip-mine{loops=b size=16},vectorize{loops=b width=16}", "5x3x16"),
        ("strip-mine{loops=b size=3},vectorize{loops=b width=2}", "5x3x3"),
        ("reverse{loops=b},vectorize{loops=b width=4}", "5x3x37"),
        # Of a loop inside of an iteration, nothing is private to each of its iterations.
        ("vectorize{loops=i width=4}", "5x3"),
        # Lanes along different dimensions: the array stays as it is declared.
        (
            "distribute{loops=b},strip-mine{loops=S0.b size=4},vectorize{loops=S0.i width=2},"
            "vectorize{loops=S1.b width=8}",
            "37x5x3",
        ),
    ],
)
def test_lanes_are_innermost(pipeline: str, shape: str) -> None:
    expected, _ = results(None)
    found, loop_ir = results(pipeline)
    np.testing.assert_array_equal(found, expected)
    assert f"memref<{shape}xf32>" in loop_ir


def test_vectors_of_a_private_array_are_neither_gathered_nor_scattered() -> None:
    _, loop_ir = results("vectorize{loops=b width=8}")
    local = [line for line in loop_ir.splitlines() if "memref<5x3x37xf32>" in line]
    assert local
    assert not any("gather" in line or "scatter" in line for line in local)
