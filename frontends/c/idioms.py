"""Divisions that round down or up, as C programs write them."""

from __future__ import annotations

from .choices import same
from .tree import Binary, Conditional, Expression, Literal, bare


def rounded_division(node: Binary) -> tuple[str, Expression, Expression] | None:
    """The operation, dividend and divisor of

    n / d - (n % d < 0)           floordiv
    n / d + (n % d > 0)           ceildiv
    n % d + (n % d < 0 ? d : 0)   mod
    """
    left, right = node.left, bare(node.right)
    if not isinstance(left, Binary) or left.operator not in ("/", "%"):
        return None
    dividend, divisor = left.left, left.right
    if left.operator == "/":
        sign = {"-": "<", "+": ">"}.get(node.operator)
        if sign is not None and _tests_remainder(right, sign, dividend, divisor):
            return ("floordiv" if sign == "<" else "ceildiv"), dividend, divisor
        return None
    if node.operator != "+" or not isinstance(right, Conditional):
        return None
    if (
        _tests_remainder(right.test, "<", dividend, divisor)
        and same(bare(right.one), bare(divisor))
        and _is_zero(right.other)
    ):
        return "mod", dividend, divisor
    return None


def _tests_remainder(
    node: Expression, sign: str, dividend: Expression, divisor: Expression
) -> bool:
    """Whether this is `n % d < 0`, or with `>`."""
    if not isinstance(node, Binary) or node.operator != sign or not _is_zero(node.right):
        return False
    rest = node.left
    return (
        isinstance(rest, Binary)
        and rest.operator == "%"
        and same(rest.left, dividend)
        and same(rest.right, divisor)
    )


def _is_zero(node: Expression) -> bool:
    literal = bare(node)
    return isinstance(literal, Literal) and literal.value == 0
