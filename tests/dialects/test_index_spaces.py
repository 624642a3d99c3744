"""affine.delinearize_index and affine.linearize_index compute what MLIR says."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright
from loopwright.dialects.errors import SourceError
from loopwright.dialects.parse import parse_module
from loopwright.passes.polyhedral.raising.raise_function import raise_module

TEXT = """
func.func @split(%n: index, %A: memref<3x?xindex>, %B: memref<2x?xindex>, %C: memref<?xindex>) {
  affine.for %i = 0 to %n {
    %a:3 = affine.delinearize_index %i into (2, 3, 4) : index, index, index
    %b:2 = affine.delinearize_index %i into (5) : index, index
    affine.store %a#0, %A[0, %i] : memref<3x?xindex>
    affine.store %a#1, %A[1, %i] : memref<3x?xindex>
    affine.store %a#2, %A[2, %i] : memref<3x?xindex>
    affine.store %b#0, %B[0, %i] : memref<2x?xindex>
    affine.store %b#1, %B[1, %i] : memref<2x?xindex>
    %c = affine.linearize_index disjoint [%a#0, %a#1, %a#2] by (2, 3, 4) : index
    %d = affine.linearize_index [%b#0, %b#1] by (5) : index
    %e = arith.addi %c, %d : index
    affine.store %e, %C[%c] : memref<?xindex>
  }
  return
}
"""


@pytest.mark.parametrize("schedule", [None, "tile{loops=i sizes=7}"])
def test_values(schedule: str | None) -> None:
    n = 40
    split, halves, joined = (np.full(shape, -1, np.int64) for shape in [(3, n), (2, n), (n,)])
    loopwright.load(TEXT)["split"].compile(schedule=schedule)(n, split, halves, joined)
    index = np.arange(n)
    assert np.array_equal(split, [index // 12, index // 4 % 3, index % 4])
    assert np.array_equal(halves, [index // 5, index % 5])
    assert np.array_equal(joined, 2 * index)


def test_basis_that_varies() -> None:
    text = TEXT.replace("(5) : index, index", "(%n) : index, index")
    with pytest.raises(SourceError) as raised:
        raise_module(parse_module(text, "f.mlir"))
    assert str(raised.value) == (
        "f.mlir:5:12: error: the basis is not constant\n"
        "    %b:2 = affine.delinearize_index %i into (%n) : index, index\n"
        "           ^\n"
        "hint: write its elements as integers"
    )
