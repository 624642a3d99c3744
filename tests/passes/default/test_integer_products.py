"""Contractions of short integers: pairs of products, in every layout, with the exact results."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import loopwright
from loopwright.passes.machine.target import Target

PRODUCT = """
func.func @f(%A: memref<AROWSxACOLSxLEFT>, %B: memref<BROWSxBCOLSxRIGHT>, %C: memref<MxNxi32>) {
  affine.for %i = 0 to M {
    affine.for %j = 0 to N {
      affine.for %k = 0 to K {
        %0 = affine.load %A[AT] : memref<AROWSxACOLSxLEFT>
        %1 = arith.EXTEND %0 : LEFT to i32
        %2 = affine.load %B[BT] : memref<BROWSxBCOLSxRIGHT>
        %3 = arith.extsi %2 : RIGHT to i32
        %4 = arith.muli %1, %3 : i32
        %5 = affine.load %C[%i, %j] : memref<MxNxi32>
        %6 = arith.addi %5, %4 : i32
        affine.store %6, %C[%i, %j] : memref<MxNxi32>
      }
    }
  }
  return
}
"""
NUMPY = {"i8": np.int8, "i16": np.int16}
pairs = pytest.mark.skipif(
    not Target.host().adds_products_in_pairs, reason="needs an operation for pairs of products"
)


def program(
    sizes: tuple[int, int, int], kinds: tuple[str, str], extend: str, transposed: tuple[bool, bool]
) -> str:
    m, n, k = sizes
    a, b = ((k, m) if transposed[0] else (m, k)), ((n, k) if transposed[1] else (k, n))
    text = PRODUCT.replace("AROWS", str(a[0])).replace("ACOLS", str(a[1]))
    text = text.replace("BROWS", str(b[0])).replace("BCOLS", str(b[1]))
    text = text.replace("AT", "%k, %i" if transposed[0] else "%i, %k")
    text = text.replace("BT", "%j, %k" if transposed[1] else "%k, %j")
    text = text.replace("LEFT", kinds[0]).replace("RIGHT", kinds[1]).replace("EXTEND", extend)
    return text.replace("M", str(m)).replace("N", str(n)).replace("K", str(k))


def edges(kind: str, shape: tuple[int, int], seed: int) -> NDArray[np.integer]:
    limits = np.iinfo(NUMPY[kind])
    values = [limits.min, limits.min, limits.min + 1, -1, 0, 1, limits.max]
    return np.random.default_rng(seed).choice(values, shape).astype(NUMPY[kind])


@pytest.mark.parametrize(
    ("sizes", "kinds", "extend", "transposed"),
    [
        ((64, 64, 64), ("i8", "i8"), "extsi", (False, True)),
        ((61, 67, 70), ("i8", "i8"), "extui", (False, True)),
        ((61, 67, 70), ("i8", "i8"), "extsi", (False, False)),
        ((50, 48, 66), ("i8", "i8"), "extui", (True, True)),
        ((50, 48, 66), ("i16", "i16"), "extsi", (False, False)),
        ((40, 72, 64), ("i8", "i16"), "extui", (True, False)),
        ((40, 50, 63), ("i8", "i8"), "extsi", (False, True)),
    ],
)
def test_products(
    sizes: tuple[int, int, int], kinds: tuple[str, str], extend: str, transposed: tuple[bool, bool]
) -> None:
    text = program(sizes, kinds, extend, transposed)
    m, n, k = sizes
    a = edges(kinds[0], (k, m) if transposed[0] else (m, k), 1)
    b = edges(kinds[1], (n, k) if transposed[1] else (k, n), 2)
    c = edges("i16", (m, n), 3).astype(np.int32)
    kernel = loopwright.load(text)["f"].compile("default")
    left = a.view(np.uint8 if kinds[0] == "i8" else np.uint16) if extend == "extui" else a
    left, right = (x.T if t else x for x, t in zip((left, b), transposed, strict=True))
    with np.errstate(over="ignore"):
        expected = (c + left.astype(np.int64) @ right.astype(np.int64)).astype(np.int32)
    kernel(a, b, c)
    assert np.array_equal(c, expected)


@pairs
@pytest.mark.parametrize("transposed", [(False, False), (False, True), (True, True)])
def test_products_are_added_in_pairs(transposed: tuple[bool, bool]) -> None:
    text = program((64, 64, 64), ("i8", "i8"), "extsi", transposed)
    a, b, c = np.zeros((64, 64), np.int8), np.zeros((64, 64), np.int8), np.zeros((64, 64), np.int32)
    kernel = loopwright.load(text)["f"].compile("default")
    kernel(a, b, c)
    assert "widened=true" in str(kernel.schedule)
    assert "pmadd" in kernel.llvm_ir
