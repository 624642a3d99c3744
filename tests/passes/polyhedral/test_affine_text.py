"""Affine expressions as people write them."""

import pytest
from xdsl.ir.affine import AffineExpr

from loopwright.passes.polyhedral.affine_text import to_readable_text

X, Y = AffineExpr.dimension(0), AffineExpr.dimension(1)
N = AffineExpr.symbol(0)

READABLE = [
    (AffineExpr.constant(-3), "-3"),
    (X, "i"),
    (X * -1, "-i"),
    (X - X, "0"),
    (N + X * -1 - 1, "N - i - 1"),
    (X * -1 + N, "N - i"),
    (X * -1 + 5, "5 - i"),
    (X * -1 - Y, "-i - j"),
    (N * 2 + X, "N * 2 + i"),
    (X % 3, "i mod 3"),
    ((X + 1) % 3, "(i + 1) mod 3"),
    ((X * 2) // 3, "(i * 2) floordiv 3"),
    (X - (X // 2) * 2 + 1, "i - (i floordiv 2) * 2 + 1"),
    (X.ceil_div(4) + Y, "(i ceildiv 4) + j"),
]


@pytest.mark.parametrize(("expression", "text"), READABLE)
def test_readable_text(expression: AffineExpr, text: str) -> None:
    assert to_readable_text(expression, ["i", "j"], ["N"]) == text
