"""Subscripts that are computed twice in a block are one value, unless what they load changes."""

import pytest

import loopwright

PROGRAM = """
func.func @f(%n: index, %J: memref<?xi32>, %H: memref<?xi64>, %x: i64) {{
  affine.for %i = 0 to %n {{
    %0 = affine.load %J[%i] : memref<?xi32>
    %1 = arith.index_cast %0 : i32 to index
    %2 = memref.load %H[%1] : memref<?xi64>
    %3 = arith.addi %2, %x : i64
    {between}
    %4 = affine.load %J[{second}] : memref<?xi32>
    %5 = arith.index_cast %4 : i32 to index
    memref.store %3, %H[%5] : memref<?xi64>
  }}
  return
}}
"""


@pytest.mark.parametrize(
    ("between", "second", "is_reduction"),
    [
        ("", "%i", True),
        ("", "%i + 1", False),
        ("affine.store %0, %J[%i + 1] : memref<?xi32>", "%i", False),
        ("memref.store %0, %J[%1] : memref<?xi32>", "%i", False),
        ("%a = memref.load %H[%1] : memref<?xi64>", "%i", True),
    ],
)
def test_updates_of_one_element(between: str, second: str, is_reduction: bool) -> None:
    function = loopwright.load(PROGRAM.format(between=between, second=second))["f"]
    assert bool(function.dependences.accumulations) == is_reduction
