"""Which memory a region reads in any case, so that a call may read it before the region."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .tree import (
    Binary,
    Block,
    Conditional,
    Declare,
    Evaluate,
    Expression,
    For,
    If,
    Name,
    Statement,
    Subscript,
    Symbol,
    expressions_of,
    parts_of,
)


def uncertain_reads(symbols: Sequence[Symbol], statements: Sequence[Statement]) -> list[Symbol]:
    """The symbols behind pointers that the region may not follow: these may lead nowhere."""
    followed: set[Symbol] = set()
    elements: set[str] = set()
    for node in _certain(statements):
        if isinstance(node, Name):
            followed.update(node.symbol.through)
        elif isinstance(node, Subscript):
            elements.add(spelled(node))
    return [
        each
        for each in symbols
        if not set(each.through) <= followed and each.spelling not in elements
    ]


def spelled(node: Expression) -> str:
    """An element with constant subscripts as C has it."""
    if isinstance(node, Subscript):
        index = getattr(node.index, "value", None)
        return f"{spelled(node.base)}[{index}]"
    return node.symbol.spelling if isinstance(node, Name) else ""


def _certain(statements: Sequence[Statement]) -> Iterator[Expression]:
    """The expressions that are evaluated whatever the sizes and data are."""
    for statement in statements:
        if isinstance(statement, For):
            for expression in (*expressions_of(statement.first), statement.test):
                yield from _evaluated(expression)
        elif isinstance(statement, Evaluate | Declare | If):
            for expression in expressions_of(statement):
                yield from _evaluated(expression)
        elif isinstance(statement, Block):
            yield from _certain(statement.statements)


def _evaluated(node: Expression) -> Iterator[Expression]:
    yield node
    if isinstance(node, Conditional):
        yield from _evaluated(node.test)
    elif isinstance(node, Binary) and node.operator in ("&&", "||"):
        yield from _evaluated(node.left)
    else:
        for part in parts_of(node):
            yield from _evaluated(part)
