"""Rows and columns that are computed from the number of an element become its address."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.ir.affine import AffineExpr, AffineMap

from loopwright import load
from loopwright.lowering.llvm.flattened_subscripts import flattened

D0, D1, S0 = AffineExpr.dimension(0), AffineExpr.dimension(1), AffineExpr.symbol(0)


@pytest.mark.parametrize(
    ("results", "width", "expected"),
    [
        ((D0 // 16, D0 % 16), 16, "(d0, d1)[s0] -> (d0)"),
        ((D1, D0 // 16, D0 % 16), 16, "(d0, d1)[s0] -> (d1, d0)"),
        (((D0 + 3) // 6, (D0 + 3) % 6), 6, "(d0, d1)[s0] -> ((d0 + 3))"),
        ((D1 + D0 // 4, D0 % 4), 4, "(d0, d1)[s0] -> (((d1 * 4) + d0))"),
        ((D0 // 4, D0 + (D0 // 4) * -4), 4, "(d0, d1)[s0] -> (d0)"),
        ((D0 // 8, D0 % 8), 16, None),
        ((D0 // 16, D0 % 8), 16, None),
        ((D0 // 16, D1), 16, None),
        ((D1, D0 % 16), 16, None),
        ((D0, D1), 16, None),
        ((D0 // 16, D0 % 16), -1, None),
        ((D0 % 16,), 16, None),
    ],
)
def test_maps(results: tuple[AffineExpr, ...], width: int, expected: str | None) -> None:
    found = flattened(AffineMap(2, 1, results), (*([100] * (len(results) - 1)), width))
    assert (None if found is None else str(found)) == expected


@pytest.mark.parametrize("bounds", [False, True])
@pytest.mark.parametrize("fast_math", [False, True])
def test_elements_by_their_number(bounds: bool, fast_math: bool) -> None:
    kernel = load("""func.func @f(%n: index, %x: memref<5x7x6xf64>, %y: memref<?xf64>) {
      affine.for %k = -6 to %n {
        %a = affine.load %x[2, (%k + 6) floordiv 6, (%k + 6) mod 6] : memref<5x7x6xf64>
        affine.store %a, %y[%k + 6] : memref<?xf64>
      }
      return
    }""")["f"].compile("default", check_bounds=bounds, fast_math=fast_math)
    x = np.random.default_rng(1).random((5, 7, 6))
    y = np.zeros(42)
    kernel(36, x, y)
    np.testing.assert_array_equal(y, x[2].ravel())
