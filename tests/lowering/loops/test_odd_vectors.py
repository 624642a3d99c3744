"""Vectors of any number of lanes: powers of two, odd, and others."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright

# Rows and columns, with the strides of columns of pixels, forwards and backwards.
STRIDED = """
func.func @f(%n: index, %A: memref<?x?xKIND>, %B: memref<?xKIND>, %C: memref<?xKIND>) {
  affine.for %i = 0 to %n {
    %a = affine.load %A[%i, 1] : memref<?x?xKIND>
    %b = affine.load %B[%i * 2 + 1] : memref<?xKIND>
    %c = affine.load %B[%i * 3] : memref<?xKIND>
    %d = affine.load %B[%i * 3 + 1] : memref<?xKIND>
    %e = affine.load %B[%i * 4 + 1] : memref<?xKIND>
    %g = affine.load %B[%i * 4 + 2] : memref<?xKIND>
    %h = affine.load %B[%i * -2 + %n * 2] : memref<?xKIND>
    %s0 = arith.addi %a, %b : KIND
    %s1 = arith.addi %s0, %c : KIND
    %s2 = arith.subi %s1, %d : KIND
    %s3 = arith.addi %s2, %e : KIND
    %s4 = arith.xori %s3, %g : KIND
    %s5 = arith.addi %s4, %h : KIND
    affine.store %s5, %C[%i] : memref<?xKIND>
    affine.store %s5, %A[%i, 1] : memref<?x?xKIND>
  }
  return
}
"""


@pytest.mark.parametrize("kind", [np.int8, np.int16])
@pytest.mark.parametrize("width", [3, 5, 6, 7, 8])
def test_strides_and_rests(kind: type[np.signedinteger], width: int) -> None:
    """Short elements, of which rests of loops are made in ever shorter vectors."""
    text = STRIDED.replace("KIND", f"i{8 * np.dtype(kind).itemsize}")
    function = loopwright.load(text)["f"]
    scheduled = function.compile(f"vectorize{{loops=i width={width}}}", threads=1)
    original = function.compile(threads=1)
    source = np.random.default_rng(width)
    for n in (width - 1, 2 * width + 2):
        arrays = [source.integers(-9, 9, shape, kind) for shape in ((n, 2), 4 * n, n)]
        results = [[array.copy() for array in arrays] for _ in range(2)]
        for kernel, values in zip((original, scheduled), results, strict=True):
            kernel(n, *values)
        assert all(map(np.array_equal, *results))
