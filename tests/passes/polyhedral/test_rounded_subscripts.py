"""Quotients and remainders: blocks and periods of loops, known and compared with all iterations."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from loopwright.passes.polyhedral.rounded_subscripts import (
    block_and_period,
    is_even,
    is_rounded,
    moves,
)

X, Y = AffineDimExpr(0), AffineDimExpr(1)


def quotient(expression: AffineExpr, divisor: int) -> AffineExpr:
    return expression // divisor


@pytest.mark.parametrize(
    ("subscripts", "block", "period"),
    [
        ((X + Y, X * 3), 0, 1),
        ((X % 2, quotient(X, 2)), 2, 2),
        ((quotient(X, 16), X % 16, Y), 16, 16),
        ((quotient(X, 4), quotient(X, 2) % 2, X % 2), 2, 4),
        ((quotient(X * 2, 4),), 2, 2),
        ((quotient(X, 2), X % 3), 1, 6),
        ((quotient(X + 1, 2),), 2, 2),
        (((X + Y) % 2,), 1, 2),
        ((quotient(Y, 8), X), 0, 1),
    ],
)
def test_blocks_and_periods(subscripts: tuple[AffineExpr, ...], block: int, period: int) -> None:
    assert block_and_period([AffineMap(2, 0, subscripts)], 0) == (block, period)


def test_steps_of_a_loop() -> None:
    pixels = AffineMap(2, 0, (quotient(X, 2), X % 2))
    assert is_rounded(pixels)
    assert is_even(pixels, (1, 0), 2)
    assert not is_even(pixels, (1, 0), 3)
    assert is_even(pixels, (2, 0), 1000)
    assert is_even(pixels, (0, 1), 1000)
    assert moves(pixels, (1, 0), 2)
    assert not moves(pixels, (0, 1), 1000)
    assert not moves(AffineMap(1, 0, (quotient(X, 8),)), (1,), 8)
    assert moves(AffineMap(1, 0, (quotient(X, 8),)), (1,), 9)


@given(
    divisors=st.lists(st.integers(1, 12), min_size=1, max_size=3),
    factor=st.integers(1, 6),
    shift=st.integers(0, 9),
    step=st.integers(1, 7),
    trips=st.integers(1, 60),
)
def test_samples_tell_what_all_iterations_do(
    divisors: list[int], factor: int, shift: int, step: int, trips: int
) -> None:
    inner: AffineExpr = X * factor + shift
    for divisor in divisors[1:]:
        inner = quotient(inner, divisor)
    access = AffineMap(1, 0, (inner % divisors[0], quotient(inner, divisors[0])))
    values = [tuple(access.eval([step * k], [])) for k in range(trips)]
    deltas = {tuple(b - a for a, b in zip(*pair, strict=True)) for pair in pairwise(values)}
    assert moves(access, (step,), trips) == (len(set(values)) > 1)
    assert is_even(access, (step,), trips) == (len(deltas) <= 1)
