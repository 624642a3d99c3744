"""Quotients and remainders without the multiples of their divisors."""

from __future__ import annotations

import random

import pytest
from xdsl.ir.affine import AffineExpr

from loopwright.passes.polyhedral.remainders import without_multiples

D0, D1 = AffineExpr.dimension(0), AffineExpr.dimension(1)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ((D0 * 2 + 3) % 2, "1"),
        ((D0 * 2 + 3) // 2, "(d0 + 1)"),
        ((D0 * 6 + D1 + 7) % 3, "((d1 + 1) mod 3)"),
        (((D0 * 4 + D1) // 2) % 2, "((d1 floordiv 2) mod 2)"),
        ((D0 * 3 + 1) // 2, "(((d0 * 3) + 1) floordiv 2)"),
        (D0 + 1, "(d0 + 1)"),
    ],
)
def test_known_answers(expression: AffineExpr, text: str) -> None:
    assert str(without_multiples(expression)) == text


def _random(source: random.Random, depth: int) -> AffineExpr:
    if not depth:
        return source.choice([D0, D1, AffineExpr.constant(source.randint(-4, 4))])
    one = _random(source, depth - 1)
    divisor = AffineExpr.constant(source.choice([1, 2, 3, 4]))
    return source.choice(
        [
            lambda: one + _random(source, depth - 1),
            lambda: one * source.choice([-2, 2, 3, 4]),
            lambda: one % divisor,
            lambda: one // divisor,
            lambda: one.ceil_div(divisor),
        ]
    )()


@pytest.mark.parametrize("seed", range(200))
def test_values_stay(seed: int) -> None:
    expression = _random(random.Random(seed), 4)
    simpler = without_multiples(expression)
    for values in ([-5, 3], [-1, -1], [0, 0], [2, 7], [9, 4]):
        assert expression.eval(values, []) == simpler.eval(values, [])
