"""Coefficients of subscripts, against the values of the subscripts."""

from __future__ import annotations

import random

import pytest
from xdsl.ir.affine import AffineExpr, AffineMap

from loopwright.passes.polyhedral.subscripts import coefficients

D0, D1 = AffineExpr.dimension(0), AffineExpr.dimension(1)
S0 = AffineExpr.symbol(0)


@pytest.mark.parametrize(
    ("subscript", "row"),
    [
        (D0 * 2 + D1 + S0 + 3, (2, 1)),
        ((D0 + D1 * -1) * 3 + D0, (4, -3)),
        (D0 + D0 * -1 + 1, (0, 0)),
        (S0 * 5, (0, 0)),
        ((D0 * 64 + D1) // 32, (2, 0)),
        (D0 % 8 + D1, (0, 1)),
    ],
)
def test_coefficients(subscript: AffineExpr, row: tuple[int, int]) -> None:
    assert coefficients(AffineMap(2, 1, (subscript, D1))) == (row, (0, 1))


def test_linear_subscripts_are_the_sum_of_their_terms() -> None:
    source = random.Random(3)

    def expression(depth: int) -> AffineExpr:
        if not depth or source.random() < 0.2:
            return source.choice([D0, D1, S0, AffineExpr.constant(source.randint(-9, 9))])
        if source.random() < 0.5:
            return expression(depth - 1) * source.randint(-4, 4)
        return expression(depth - 1) + expression(depth - 1)

    for _ in range(200):
        subscript = expression(4)
        ((first, second),) = coefficients(AffineMap(2, 1, (subscript,)))
        origin = subscript.eval([0, 0], [7])
        for i, j in ((1, 0), (0, 1), (5, -3)):
            assert subscript.eval([i, j], [7]) == origin + first * i + second * j
