"""Private arrays whose rows would conflict in caches are a line longer."""

from __future__ import annotations

import re

import numpy as np
import pytest

from loopwright.runtime.program import load

TWO_STAGES = """
func.func @f(%A: memref<SHAPExTYPE>, %B: memref<SHAPExTYPE>) {
  affine.for %b = 0 to 3 {
    affine.for %i = 0 to ROWS {
      affine.for %j = 0 to COLUMNS {
        %T = memref.alloca() : memref<TYPE>
        %0 = affine.load %A[%b, %i, %j] : memref<SHAPExTYPE>
        affine.store %0, %T[] : memref<TYPE>
        %1 = affine.load %T[] : memref<TYPE>
        %2 = OPERATION %1, %1 : TYPE
        affine.store %2, %B[%b, %i, %j] : memref<SHAPExTYPE>
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize(
    "element, rows, columns, stored",
    [
        ("f32", 5, 1024, "5x1040"),  # rows of 4 KiB
        ("f64", 5, 128, "5x136"),  # rows of 1 KiB
        ("i8", 4, 2048, "4x2112"),
        ("f64", 5, 127, "5x127"),
        ("f64", 16, 24, "16x24"),  # rows of 192 bytes
    ],
)
def test_rows_are_padded(element: str, rows: int, columns: int, stored: str) -> None:
    operation = "arith.addi" if element.startswith("i") else "arith.addf"
    shape = f"3x{rows}x{columns}"
    text = TWO_STAGES.replace("SHAPE", shape).replace("TYPE", element)
    text = text.replace("ROWS", str(rows)).replace("COLUMNS", str(columns))
    (function,) = load(text.replace("OPERATION", operation)).values()
    kernel = function.compile("distribute{loops=i,j}", verify=True)
    dtype = {"f32": np.float32, "f64": np.float64, "i8": np.int8}[element]
    source = np.arange(3 * rows * columns).astype(dtype).reshape(3, rows, columns)
    result = np.zeros_like(source)
    kernel(source, result)
    np.testing.assert_array_equal(result, source + source)
    allocated = re.findall(r"memref\.alloca?(?:\S*) .*memref<(\S+)x\w+>", kernel.loop_ir)
    assert allocated == [stored]
