"""Sums over the iterations of a loop of what is linear in its variable: triangular numbers.

for (i = 0; i < n; i++) k += i + 1;    ->    k is i * (i - 1) / 2 + i in iteration i
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .c_types import INT, LONG
from .declared_pointers import is_fixed, names_in
from .distances import Distance, constant, iterations, scaled, total, trips
from .loop_steps import first_of, is_name, step_by
from .tree import (
    Binary,
    Conditional,
    Expression,
    For,
    Literal,
    Name,
    Symbol,
    Unary,
    bare,
    widened,
)
from .variables import assigned_symbols, loop_symbol, loop_symbols

_ANOTHER = "moves by another distance in each iteration"

Terms = Mapping[Symbol | None, int]
"""A sum of variables by their coefficients, and a constant under None."""


@dataclass(frozen=True)
class Sums:
    """What a loop adds up: before an iteration, and in all of them (None: not known)."""

    before: Distance
    behind: Distance | None


def sums(node: For, moved: Distance, read: Callable[[Expression], Expression]) -> Sums | str:
    """The sums of what each iteration of a loop adds, or why a variable has no such sum.

    `read` gives an expression without variables that move.
    """
    inner = assigned_symbols(node.body.statements, ())
    varying = {*inner, *loop_symbols([node])}
    symbol, first = loop_symbol(node), first_of(node)
    step = step_by(node.step, symbol)
    if first is not None and (names_in((first,)) & varying or not is_fixed(first)):
        return "moves in a loop whose first value changes, or is read from memory"
    changing = [each for each in moved if names_in((each,)) & varying]
    if symbol is None or first is None or not step or symbol in inner:
        is_changing = symbol is not None and bool(changing)
        return _ANOTHER if is_changing else "moves in a loop that does not count in constant steps"
    variable, test = Name(node.place, symbol.type, symbol), bare(node.test)
    end, count = None, None
    if isinstance(test, Binary) and is_name(bare(test.left), symbol):
        end = read(test.right)
        count = trips(first, test.operator, end, step)
    if count is not None and (names_in((count,)) & varying or not is_fixed(count)):
        count = None
    before, behind = list[Expression](), list[Expression]()
    for each in moved:
        if each not in changing:
            before += scaled((each,), iterations(first, variable, step))
            behind += () if count is None else scaled((each,), count)
            continue
        if count is None or end is None or step != 1 or not isinstance(test, Binary):
            return _ANOTHER
        slope = _slope(each, variable, first, test.operator, end)
        if slope is None or names_in((each,)) & varying != {symbol}:
            return _ANOTHER
        before += _sum(slope, variable, variable)
        behind += _whole(slope, variable, test.operator, end)
    return Sums(tuple(before), None if count is None else tuple(behind))


def _whole(
    slope: tuple[int, Terms, int], variable: Name, operator: str, end: Expression
) -> Distance:
    """The sum over all iterations of the loop."""
    behind = widened(end)
    if operator == "<=":
        behind = Binary(end.place, LONG, "+", behind, _one(end))
    test = Binary(end.place, INT, ">", behind, Literal(end.place, LONG, slope[2]))
    whole = total(_sum(slope, behind, variable), end)
    return (Conditional(end.place, LONG, test, whole, Literal(end.place, LONG, 0)),)


def _slope(
    each: Expression, variable: Name, first: Expression, operator: str, end: Expression
) -> tuple[int, Terms, int] | None:
    """What an amount grows by from one iteration to the next, what it is at 0, and the first one.

    Numbers of iterations, `count >= 1 ? count : 0`, are linear where all counts are 0 at least.
    """
    begin = constant(first)
    is_count = isinstance(each, Conditional)
    terms = _terms(each.one if isinstance(each, Conditional) else each)
    if begin is None or terms is None or operator not in ("<", "<="):
        return None
    slope = terms.get(variable.symbol, 0)
    rest = {symbol: factor for symbol, factor in terms.items() if symbol is not variable.symbol}
    if is_count:
        last = _terms(end)
        if last is None:
            return None
        ends: Terms = {None: begin}
        if slope <= 0:
            ends = _plus(last, {None: -1 if operator == "<" else 0}, 1)
        least = _plus(rest, ends, slope)
        if any(symbol is not None for symbol in least) or least.get(None, 0) < 0:
            return None
    return slope, rest, begin


def _sum(slope: tuple[int, Terms, int], behind: Expression, like: Name) -> Distance:
    """The sum over `first <= v < behind` of `a v + rest`.

    It is `a (behind (behind - 1) - first (first - 1)) / 2 + (behind - first) rest`.
    """
    factor, rest, first = slope
    place, end = behind.place, widened(behind)
    before = Binary(place, LONG, "-", end, _one(behind))
    two = Literal(place, LONG, 2)
    half: Expression = Binary(place, LONG, "/", Binary(place, LONG, "*", end, before), two)
    skipped = Literal(place, LONG, first * (first - 1) // 2)
    squares: Distance = (half,) if not skipped.value else (half, Unary(place, LONG, "-", skipped))
    count: Expression = end
    if first:
        count = Binary(place, LONG, "-", end, Literal(place, LONG, first))
    found = [each for part in squares for each in _times(part, factor)]
    for symbol, times in rest.items():
        name = None if symbol is None else widened(Name(like.place, symbol.type, symbol))
        one = _times(count, times)
        found += one if name is None else scaled(one, name)
    return tuple(found)


def _times(node: Expression, factor: int) -> Distance:
    if factor in (1, -1):
        return (node,) if factor == 1 else (Unary(node.place, LONG, "-", node),)
    return (Binary(node.place, LONG, "*", node, Literal(node.place, LONG, factor)),)


def _terms(node: Expression) -> Terms | None:
    """A linear expression; None for others."""
    node = bare(node)
    value = constant(node)
    if value is not None:
        return {None: value} if value else {}
    if isinstance(node, Name):
        return {node.symbol: 1}
    if isinstance(node, Unary) and node.operator == "-":
        inner = _terms(node.operand)
        return None if inner is None else _plus({}, inner, -1)
    if isinstance(node, Binary) and node.operator in ("+", "-", "*"):
        left, right = _terms(node.left), _terms(node.right)
        if left is None or right is None:
            return None
        if node.operator != "*":
            return _plus(left, right, 1 if node.operator == "+" else -1)
        for one, other in ((left, right), (right, left)):
            if not one.keys() - {None}:
                return _plus({}, other, one.get(None, 0))
    return None


def _plus(one: Terms, other: Terms, factor: int) -> Terms:
    """`one + factor * other`."""
    found = dict(one)
    for symbol, times in other.items():
        found[symbol] = found.get(symbol, 0) + factor * times
    return {symbol: times for symbol, times in found.items() if times}


def _one(node: Expression) -> Literal:
    return Literal(node.place, LONG, 1)
