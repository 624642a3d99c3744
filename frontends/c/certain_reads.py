"""Which memory a region reads in any case, so that a call may read it before the region."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .tree import (
    Assignment,
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
    walk,
)
from .variables import loop_symbol


def first_loops(statements: Sequence[Statement]) -> tuple[For, ...]:
    """A loop that statements begin with, the one that its body begins with, and so on.

    They are loops whose heads may be run once more before: none reads a variable that it, or a
    loop inside, sets.
    """
    found: list[For] = []
    while statements and isinstance(statements[0], For):
        found.append(statements[0])
        statements = statements[0].body.statements
    own = [loop_symbol(each) for each in found]
    for position, loop in enumerate(found):
        value = loop.first.value if isinstance(loop.first, Declare) else _assigned(loop.first)
        if value is None or _names(value) & {*own[position:]}:
            return ()
        if _names(loop.test) & {*own[position + 1 :]}:
            return ()
    return tuple(found)


def _assigned(statement: Statement) -> Expression | None:
    expression = statement.expression if isinstance(statement, Evaluate) else None
    is_plain = isinstance(expression, Assignment) and not expression.operator
    return expression.value if isinstance(expression, Assignment) and is_plain else None


def _names(expression: Expression) -> set[Symbol | None]:
    return {each.symbol for each in walk(expression) if isinstance(each, Name)}


def uncertain_reads(
    symbols: Sequence[Symbol], statements: Sequence[Statement], running: Sequence[For] = ()
) -> list[Symbol]:
    """The symbols behind pointers that the region may not follow: these may lead nowhere.

    The bodies of loops that are known to be `running` run at least once.
    """
    followed: set[Symbol] = set()
    elements: set[str] = set()
    for node in _certain(statements, running):
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


def _certain(statements: Sequence[Statement], running: Sequence[For]) -> Iterator[Expression]:
    """The expressions that are evaluated whatever the sizes and data are."""
    for statement in statements:
        if isinstance(statement, For):
            for expression in (*expressions_of(statement.first), statement.test):
                yield from _evaluated(expression)
            if any(each is statement for each in running):
                yield from _certain(statement.body.statements, running)
        elif isinstance(statement, Evaluate | Declare | If):
            for expression in expressions_of(statement):
                yield from _evaluated(expression)
        elif isinstance(statement, Block):
            yield from _certain(statement.statements, running)


def _evaluated(node: Expression) -> Iterator[Expression]:
    yield node
    if isinstance(node, Conditional):
        yield from _evaluated(node.test)
    elif isinstance(node, Binary) and node.operator in ("&&", "||"):
        yield from _evaluated(node.left)
    else:
        for part in parts_of(node):
            yield from _evaluated(part)
