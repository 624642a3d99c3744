"""Vectors of neighbours from last to first: stored and loaded as rows, whole and under masks."""

from __future__ import annotations

import numpy as np
import pytest
from support.targets import NARROW, WIDE

import loopwright
from loopwright.lowering.generate import generate
from loopwright.lowering.llvm import Options, translate
from loopwright.passes.machine.target import Target

TYPES = {"f32": np.float32, "f64": np.float64, "i8": np.int8, "i16": np.int16, "i1": np.bool_}
REVERSED = """
func.func @f(%A: memref<{n}x{kind}>, %B: memref<{n}x{kind}>, %C: memref<{n}x{kind}>) {{
  affine.for %i = 0 to {n} {{
    %0 = affine.load %A[{last} - %i] : memref<{n}x{kind}>
    affine.store %0, %B[{last} - %i] : memref<{n}x{kind}>
    affine.store %0, %C[%i] : memref<{n}x{kind}>
  }}
  return
}}
"""
DIAGONAL = """
func.func @f(%n: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  affine.for %i = 1 to %n {
    affine.for %j = 1 to %n {
      %0 = affine.load %A[%i - 1, %j - 1] : memref<?x?xf64>
      %1 = affine.load %B[%i, %j] : memref<?x?xf64>
      %2 = arith.addf %0, %1 : f64
      affine.store %2, %A[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
"""


@pytest.mark.parametrize("target", [NARROW, WIDE, None])
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(("n", "width"), [(64, 8), (67, 8), (5, 8), (67, 4), (33, 16)])
def test_reversed_rows(kind: str, n: int, width: int, target: Target | None) -> None:
    if target is not None and not target.features <= Target.host().features:
        pytest.skip("the processor cannot run it")
    function = loopwright.load(REVERSED.format(n=n, kind=kind, last=n - 1))["f"]
    kernel = function.compile(f"vectorize{{loops=i width={width}}}", target=target, verify=True)
    # Exactly as long as what is accessed: nothing before or behind it may be touched.
    a = np.arange(n).astype(TYPES[kind])
    b, c = np.zeros_like(a), np.zeros_like(a)
    kernel(a, b, c)
    assert np.array_equal(b, a)
    assert np.array_equal(c, a[::-1])


@pytest.mark.parametrize("n", [64, 67])
def test_no_scatter_is_left(n: int) -> None:
    function = loopwright.load(REVERSED.format(n=n, kind="f32", last=n - 1))["f"]
    loops = generate(function.schedule("vectorize{loops=i width=16}"), {})
    text = str(translate(loops, target=WIDE, options=Options()))
    assert "llvm.masked.scatter" not in text
    assert "llvm.masked.gather" not in text


@pytest.mark.parametrize("n", [2, 61, 100])
def test_lanes_along_diagonals(n: int) -> None:
    function = loopwright.load(DIAGONAL)["f"]
    a, b = (np.random.default_rng(seed).random((n, n)) for seed in (1, 2))
    expected, found = a.copy(), a.copy()
    function.compile()(n, expected, b)
    function.compile("rules", threads=1, verify=True)(n, found, b)
    assert np.array_equal(found, expected)
