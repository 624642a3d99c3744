"""Vectors of the terms of sums that keep their order: LLVM adds their lanes one by one."""

from __future__ import annotations

import re

import numpy as np
import pytest

from loopwright.runtime.program import load

SUMS = """
func.func @f(%x: memref<{n}x{k}x{T}>, %y: memref<{n}x{T}>, %s: memref<1x{T}>) {{
  affine.for %i = 0 to {n} {{
    %a = affine.load %x[%i, {c}] : memref<{n}x{k}x{T}>
    %b = affine.load %y[%i] : memref<{n}x{T}>
    %q = {op} : {T}
    %o = affine.load %s[0] : memref<1x{T}>
    %t = arith.addf %o, %q : {T}
    affine.store %t, %s[0] : memref<1x{T}>
  }}
  return
}}
"""
QUOTIENT = "arith.divf %a, %b"
HINT = "llvm.loop.vectorize.enable"


@pytest.mark.parametrize("n", [5, 8, 15, 37, 400])
@pytest.mark.parametrize(("kind", "element"), [("f32", np.float32), ("f64", np.float64)])
def test_quotients_are_added_in_order(kind: str, element: type, n: int) -> None:
    (function,) = load(SUMS.format(n=n, k=1, c=0, T=kind, op=QUOTIENT)).values()
    kernel = function.compile(None, threads=1)
    rng = np.random.default_rng(n)
    x, y = rng.uniform(-1e6, 1e6, (n, 1)).astype(element), rng.uniform(0.1, 9, n).astype(element)
    found = np.full(1, 0.5, element)
    expected = found[0]
    for term in x[:, 0] / y:
        expected += term
    kernel(x, y, found)
    assert found[0] == expected
    if n == 400:
        assert re.search(r"vdivp[sd]\s.*[yz]mm", kernel.assembly), "there are vectors of quotients"


@pytest.mark.parametrize("n", [7, 19])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_sums_of_nothing_but_zeros_keep_their_sign(n: int, sign: float) -> None:
    (function,) = load(SUMS.format(n=n, k=1, c=0, T="f32", op=QUOTIENT)).values()
    zeros, found = np.full((n, 1), -0.0, np.float32), np.full(1, sign * 0.0, np.float32)
    function.compile(None, threads=1)(zeros, np.ones(n, np.float32), found)
    assert np.signbit(found[0]) == (sign < 0)


@pytest.mark.parametrize(
    ("columns", "operation", "is_told"),
    [
        # Terms that lie apart would be gathered, for as many additions as before.
        (9, "arith.subf %a, %b", True),
        (9, QUOTIENT, False),
        (1, "arith.subf %a, %b", False),
        (3, "arith.subf %a, %b", False),
    ],
)
def test_cheap_terms_are_not_gathered(columns: int, operation: str, is_told: bool) -> None:
    (function,) = load(SUMS.format(n=100, k=columns, c=0, T="f32", op=operation)).values()
    kernel = function.compile(None, threads=1)
    rng = np.random.default_rng(0)
    x, y = rng.random((100, columns), np.float32), rng.random(100, np.float32)
    found = np.zeros(1, np.float32)
    kernel(x, y, found)
    expected = np.float32(0)
    for term in x[:, 0] - y if "subf" in operation else x[:, 0] / y:
        expected += term
    assert found[0] == expected
    assert (HINT in kernel.llvm_ir) == is_told


VOTES = """
func.func @f(%x: memref<4x8xf32>, %h: memref<4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 8 {
      affine.for %b = 0 to 8 {
        %a = affine.load %x[%i, %j] : memref<4x8xf32>
        %q = math.sqrt %a : f32
        %o = affine.load %h[%i, %b] : memref<4x8xf32>
        %t = arith.addf %o, %q : f32
        affine.store %t, %h[%i, %b] : memref<4x8xf32>
      }
    }
  }
  return
}
"""


def test_vectors_are_not_taken_apart_for_many_sums() -> None:
    (function,) = load(VOTES).values()
    kernel = function.compile(None, threads=1)
    x, h = np.random.default_rng(0).random((4, 8), np.float32), np.zeros((4, 8), np.float32)
    kernel(x, h)
    np.testing.assert_allclose(h, np.sqrt(x).sum(axis=1)[:, None].repeat(8, 1), rtol=1e-6)
    assert HINT in kernel.llvm_ir
