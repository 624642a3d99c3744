"""`%` and `//` of floating-point numbers, as NumPy and Python compute them."""

from __future__ import annotations

import ast
from typing import Protocol

from ..text.emitter import Emitter
from .values import Scalar


class _Arithmetic(Protocol):
    """What the operations are made with."""

    emitter: Emitter[ast.AST]

    def operation(self, name: str, one: Scalar, other: Scalar, node: ast.AST) -> Scalar:
        """An operation of arith."""
        ...

    def compare(self, predicate: str, one: Scalar, other: Scalar, node: ast.AST) -> str:
        """A truth value."""
        ...

    def select(self, truth: str, one: Scalar, other: Scalar, node: ast.AST) -> Scalar:
        """One of two."""
        ...


def floored(
    arithmetic: _Arithmetic, one: Scalar, other: Scalar, node: ast.AST, *, remainder: bool
) -> Scalar:
    """The quotient rounded down, or the `remainder`, which has the sign of the divisor.

    The quotient is that of what the remainder leaves, an integer but for rounding; it is `a / b`
    where b is 0.
    """
    compute, compare, select = arithmetic.operation, arithmetic.compare, arithmetic.select

    def number(text: str) -> Scalar:
        return Scalar(arithmetic.emitter.constant(text, one.element.mlir), one.element, one.weak)

    def call(name: str, *operands: Scalar) -> Scalar:
        text = f"math.{name} {', '.join(each.name for each in operands)} : {one.element.mlir}"
        return Scalar(arithmetic.emitter.operation(text, node), one.element, one.weak)

    def both(left: str, right: str, name: str = "andi") -> str:
        return arithmetic.emitter.operation(f"arith.{name} {left}, {right} : i1", node)

    zero = number("0.0")
    rest = compute("remf", one, other, node)
    is_inexact = compare("ne", rest, zero, node)
    below, above = (
        both(compare(one_sign, rest, zero, node), compare(other_sign, other, zero, node))
        for one_sign, other_sign in (("lt", "gt"), ("gt", "lt"))
    )
    crosses = both(below, above, name="ori")
    if remainder:
        exact = select(is_inexact, rest, call("copysign", zero, other), node)
        result = select(crosses, compute("addf", rest, other, node), exact, node)
        return select(compare("ne", other, zero, node), result, rest, node)
    quotient = compute("divf", compute("subf", one, rest, node), other, node)
    lower = select(crosses, compute("subf", quotient, number("1.0"), node), quotient, node)
    floor = call("floor", lower)
    far = compare("gt", compute("subf", lower, floor, node), number("0.5"), node)
    rounded = select(far, compute("addf", floor, number("1.0"), node), floor, node)
    plain = compute("divf", one, other, node)
    signed = select(compare("ne", lower, zero, node), rounded, call("copysign", zero, plain), node)
    return select(compare("ne", other, zero, node), signed, plain, node)
