"""Conditions of `while` loops that assign variables, as the first statements of their bodies.

while (j-- > 0 && a[j] > x)   ->   while (1)
    a[j + 1] = a[j];                   j--;
                                       if (j + 1 > 0) ; else break;
                                       if (a[j] > x) ; else break;
                                       a[j + 1] = a[j];
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .counted_loops import counts
from .jumps import BREAK, number
from .side_effects import tested
from .tree import (
    Assignment,
    Binary,
    Block,
    Evaluate,
    Expression,
    For,
    If,
    Refused,
    Statement,
    While,
    all_statements,
    bare,
    walk,
)


def with_plain_tests(block: Block) -> Block:
    """A block whose loops have conditions without assignments, but those that only count."""
    if not any(_assigns(each) for each in all_statements(block.statements)):
        return block
    return _block(block)


def _assigns(node: Statement) -> bool:
    return (
        isinstance(node, While)
        and any(isinstance(each, Assignment) for each in walk(node.test))
        and not counts(node)
    )


def _block(block: Block) -> Block:
    return replace(block, statements=[_statement(each) for each in block.statements])


def _statement(node: Statement) -> Statement:
    if isinstance(node, Block):
        return _block(node)
    if isinstance(node, If):
        return replace(node, one=_block(node.one), other=_block(node.other))
    if isinstance(node, Refused):
        return replace(node, blocks=tuple(_block(each) for each in node.blocks))
    if not isinstance(node, For | While):
        return node
    loop = replace(node, body=_block(node.body))
    if not isinstance(loop, While) or not _assigns(loop):
        return loop
    first: list[Statement] = []
    for test in _conjuncts(loop.test):
        steps, plain = tested(test)
        if any(isinstance(each, Assignment) for each in walk(plain)):
            return loop
        first += [Evaluate(loop.place, loop.start, loop.start, each) for each in steps]
        first.append(_ended_unless(plain, loop))
    body = replace(loop.body, statements=[*first, *loop.body.statements])
    return replace(loop, test=number(loop, 1), body=body)


def _conjuncts(test: Expression) -> Iterator[Expression]:
    """The parts of a condition in the order in which C asks them."""
    node = bare(test)
    if isinstance(node, Binary) and node.operator == "&&":
        yield from _conjuncts(node.left)
        yield from _conjuncts(node.right)
    else:
        yield test


def _ended_unless(test: Expression, loop: While) -> If:
    """`if (test) ; else break;`, ahead of the body of a loop."""
    at = loop.body.start
    nothing = Block(test.place, at, at, [])
    leaving = Block(test.place, at, at, [Refused(test.place, at, at, BREAK, leaves=True)])
    return If(test.place, at, at, test, nothing, leaving)
