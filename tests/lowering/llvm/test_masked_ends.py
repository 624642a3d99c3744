"""Which loops LLVM is told to mask the last vector of."""

from __future__ import annotations

import numpy as np
import pytest
from support.llvm_code import llvm_ir

from loopwright.passes.machine.target import Target
from loopwright.runtime.program import load

ROWS = """
func.func @f(%n: index, %A: memref<300x300xf32>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to BOUND {
      %0 = affine.load %A[%i, %j] : memref<300x300xf32>
      %1 = FUNCTION %0 : f32
      affine.store %1, %A[%i, %j] : memref<300x300xf32>
    }
  }
  return
}
"""
HINT = "llvm.loop.vectorize.predicate.enable"


@pytest.mark.parametrize(
    ("bound", "function", "target", "is_told"),
    [
        ("%i", "math.exp", "generic-avx512", True),
        ("%i", "math.tanh", "generic-avx512", True),
        ("%i", "math.sqrt", "generic-avx512", False),
        ("200", "math.exp", "generic-avx512", False),
        ("%i", "math.exp", "generic-avx2", False),
    ],
)
def test_rows_of_varying_length_with_functions(
    bound: str, function: str, target: str, is_told: bool
) -> None:
    text = ROWS.replace("BOUND", bound).replace("FUNCTION", function)
    (program,) = load(text).values()
    assert (HINT in llvm_ir(program, "", Target.named(target), {"n": 200})) == is_told


def test_long_rows_are_left_to_llvm() -> None:
    (program,) = load(ROWS.replace("BOUND", "%i").replace("FUNCTION", "math.exp")).values()
    assert HINT not in llvm_ir(program, "", Target.named("generic-avx512"), {"n": 300})


def test_masked_ends_compute_what_scalars_do() -> None:
    """Bit for bit, and nothing behind the end of a row is touched."""
    (program,) = load(ROWS.replace("BOUND", "%i").replace("FUNCTION", "math.exp")).values()
    values = np.random.default_rng(0).uniform(-2, 2, (300, 300)).astype(np.float32)
    rows = values.copy()
    program.compile("", threads=1)(100, rows)
    single = values.copy()
    exponentials = load(ROWS.replace("BOUND", "300").replace("FUNCTION", "math.exp"))["f"]
    exponentials.compile("", threads=1)(100, single)
    i, j = np.indices(values.shape)
    np.testing.assert_array_equal(rows, np.where((j < i) & (i < 100), single, values))
