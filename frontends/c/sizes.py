"""Which integers are sizes: those that bounds, subscripts and conditions use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .c_types import IntegerType, PointerType
from .tree import (
    Assignment,
    Binary,
    Conditional,
    Declare,
    Expression,
    For,
    If,
    Name,
    Statement,
    Subscript,
    Symbol,
    While,
    all_expressions,
    all_statements,
    expressions_of,
    parts_of,
    walk,
)


def size_symbols(statements: Sequence[Statement]) -> set[Symbol]:
    """The integer variables in affine positions, and those that such variables are made of."""
    found = {each.symbol for node in _positions(statements) for each in _names(node)}
    while True:
        more = {
            each.symbol
            for symbol, value in _values(statements)
            if symbol in found
            for each in _names(value)
        }
        if more <= found:
            return found
        found |= more


def _names(node: Expression) -> Iterator[Name]:
    for each in walk(node):
        if isinstance(each, Name) and isinstance(each.symbol.type, IntegerType):
            yield each


def _positions(statements: Sequence[Statement]) -> Iterator[Expression]:
    for expression in all_expressions(statements):
        if isinstance(expression, Subscript):
            yield expression.index
        elif isinstance(expression, Conditional):
            yield expression.test
        elif isinstance(expression, Binary | Assignment) and isinstance(
            expression.type, PointerType
        ):
            yield from parts_of(expression)  # so many elements behind another one
    for statement in all_statements(statements):
        if isinstance(statement, For | If | While):
            yield from expressions_of(statement)
        elif isinstance(statement, Declare):
            yield from statement.symbol.extents


def _values(statements: Sequence[Statement]) -> Iterator[tuple[Symbol, Expression]]:
    """What variables are assigned."""
    for expression in all_expressions(statements):
        if isinstance(expression, Assignment) and isinstance(expression.target, Name):
            yield expression.target.symbol, expression.value
    for statement in all_statements(statements):
        if isinstance(statement, Declare) and statement.value is not None:
            yield statement.symbol, statement.value
