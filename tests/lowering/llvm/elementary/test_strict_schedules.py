"""Default schedules of what people compute with these functions: vectors, and the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright
from loopwright.runtime.calling.inputs import Settings, make_arguments

SOFTMAX = """
func.func @softmax(%rows: index, %columns: index, %x: memref<?x?xTYPE>, %top: memref<?xTYPE>,
                   %total: memref<?xTYPE>, %y: memref<?x?xTYPE>) {
  affine.for %r = 0 to %rows {
    affine.for %c = 0 to %columns {
      %0 = affine.load %top[%r] : memref<?xTYPE>
      %1 = affine.load %x[%r, %c] : memref<?x?xTYPE>
      %2 = arith.maximumf %0, %1 : TYPE
      affine.store %2, %top[%r] : memref<?xTYPE>
    }
    affine.for %c = 0 to %columns {
      %0 = affine.load %x[%r, %c] : memref<?x?xTYPE>
      %1 = affine.load %top[%r] : memref<?xTYPE>
      %2 = arith.subf %0, %1 : TYPE
      %3 = math.exp %2 : TYPE
      affine.store %3, %y[%r, %c] : memref<?x?xTYPE>
    }
    affine.for %c = 0 to %columns {
      %0 = affine.load %total[%r] : memref<?xTYPE>
      %1 = affine.load %y[%r, %c] : memref<?x?xTYPE>
      %2 = arith.addf %0, %1 : TYPE
      affine.store %2, %total[%r] : memref<?xTYPE>
    }
    affine.for %c = 0 to %columns {
      %0 = affine.load %y[%r, %c] : memref<?x?xTYPE>
      %1 = affine.load %total[%r] : memref<?xTYPE>
      %2 = arith.divf %0, %1 : TYPE
      affine.store %2, %y[%r, %c] : memref<?x?xTYPE>
    }
  }
  return
}
"""

GELU = """
func.func @gelu(%m: index, %n: index, %a: memref<?x?xTYPE>, %b: memref<?xTYPE>,
                %out: memref<?x?xTYPE>) {
  %half = arith.constant 0.5 : TYPE
  %root = arith.constant 0.70710678 : TYPE
  %one = arith.constant 1.0 : TYPE
  affine.for %j = 0 to %n {
    affine.for %i = 0 to %m {
      %0 = affine.load %a[%i, %j] : memref<?x?xTYPE>
      %1 = affine.load %b[%j] : memref<?xTYPE>
      %2 = arith.addf %0, %1 : TYPE
      %3 = arith.mulf %2, %root : TYPE
      %4 = math.erf %3 : TYPE
      %5 = arith.addf %4, %one : TYPE
      %6 = arith.mulf %2, %half : TYPE
      %7 = arith.mulf %6, %5 : TYPE
      affine.store %7, %out[%i, %j] : memref<?x?xTYPE>
    }
  }
  return
}
"""

FORWARDS = """
func.func @forwards(%n: index, %spot: memref<?xTYPE>, %rate: memref<?xTYPE>,
                    %strike: memref<?xTYPE>, %price: memref<?xTYPE>) {
  %third = arith.constant 0.3333 : TYPE
  affine.for %i = 0 to %n {
    %0 = affine.load %spot[%i] : memref<?xTYPE>
    %1 = affine.load %rate[%i] : memref<?xTYPE>
    %2 = affine.load %strike[%i] : memref<?xTYPE>
    %3 = math.absf %0 : TYPE
    %4 = math.log1p %3 : TYPE
    %5 = math.powf %3, %third : TYPE
    %6 = arith.mulf %4, %1 : TYPE
    %7 = math.tanh %6 : TYPE
    %8 = math.sin %2 : TYPE
    %9 = arith.addf %7, %8 : TYPE
    %10 = arith.mulf %9, %5 : TYPE
    affine.store %10, %price[%i] : memref<?xTYPE>
  }
  return
}
"""


# Distance and bearing of points, and tails of a normal distribution.
BEARINGS = """
func.func @bearings(%n: index, %x: memref<?xTYPE>, %y: memref<?xTYPE>, %out: memref<?xTYPE>) {
  affine.for %i = 0 to %n {
    %0 = affine.load %x[%i] : memref<?xTYPE>
    %1 = affine.load %y[%i] : memref<?xTYPE>
    %2 = math.atan2 %1, %0 : TYPE
    %3 = math.external "hypotSUFFIX"(%0, %1) : (TYPE, TYPE) -> TYPE
    %4 = math.cbrt %3 : TYPE
    %5 = math.asinh %4 : TYPE
    %6 = arith.subf %2, %5 : TYPE
    %7 = math.erfc %6 : TYPE
    affine.store %7, %out[%i] : memref<?xTYPE>
  }
  return
}
"""


def with_type(text: str, scalar: str) -> str:
    return text.replace("TYPE", scalar).replace("SUFFIX", "f" if scalar == "f32" else "")


@pytest.mark.parametrize("scalar", ["f32", "f64"])
@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (SOFTMAX, {"rows": "119", "columns": "70"}),
        (GELU, {"m": "133", "n": "170"}),
        (FORWARDS, {"n": "20003"}),
        (BEARINGS, {"n": "20003"}),
    ],
    ids=["softmax", "gelu", "forwards", "bearings"],
)
def test_a_strict_default_schedule_gives_the_bits_of_the_program_as_written(
    text: str, sizes: dict[str, str], scalar: str
) -> None:
    (function,) = loopwright.load(with_type(text, scalar)).values()
    results: list[list[Any]] = []
    for schedule in (None, "default"):
        arguments = make_arguments(function.scop, function.signature, Settings(sizes))
        kernel = function.compile(schedule, threads=1)
        kernel(*arguments)
        results.append(arguments)
    assert "vectorize" in str(kernel.schedule)
    for written, scheduled in zip(*results, strict=True):
        np.testing.assert_array_equal(written, scheduled)
