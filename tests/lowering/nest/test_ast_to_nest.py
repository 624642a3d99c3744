"""Bounds of isl's AST as indices."""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl
import pytest

from loopwright.lowering.nest.ast_to_nest import lower_bound, to_index
from loopwright.lowering.nest.index_expression import Index


def number(value: int) -> isl.AstExpr:
    return isl.AstExpr.from_val(isl.Val(value))


K = isl.AstExpr.from_id(isl.Id("k"))


CASES: tuple[tuple[isl.AstExpr, Callable[[int], int]], ...] = (
    (K, lambda k: k),
    (K.div(number(2)), lambda k: -(-k // 2)),
    (K.div(number(2)).neg(), lambda k: -(k // 2)),
    (K.div(number(2)).add(number(1)), lambda k: -(-(k + 2) // 2)),
    (K.div(number(2)).sub(K.div(number(3))), lambda k: -(-k // 6)),
    (number(3).mul(K.div(number(2))).add(K), lambda k: -(-5 * k // 2)),
    (K.div(number(2)).div(number(3)), lambda k: -(-k // 6)),
    (K.pdiv_q(number(2)).sub(number(1)), lambda k: k // 2 - 1),
)


@pytest.mark.parametrize(("expression", "first"), CASES)
def test_lower_bounds_are_rounded_up_where_isl_divides_exactly(
    expression: isl.AstExpr, first: Callable[[int], int]
) -> None:
    for k in range(-7, 8):
        assert lower_bound(expression, {"k": Index(k)}) == Index(first(k))


def test_where_there_is_no_remainder_nothing_is_rounded() -> None:
    expression = number(3).mul(K.div(number(2))).sub(number(1))
    for k in range(-8, 8, 2):
        assert lower_bound(expression, {"k": Index(k)}) == to_index(expression, {"k": Index(k)})
