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


def with_plain_tests(block: Block, *, counting: bool = False) -> Block:
    """A block whose loops have conditions without assignments.

    Those that only count stay, but with `counting`: what is read behind them is what they set.
    """
    if not any(_assigns(each, counting) for each in all_statements(block.statements)):
        return block
    return _block(block, counting)


def _assigns(node: Statement, counting: bool) -> bool:
    return (
        isinstance(node, While)
        and any(isinstance(each, Assignment) for each in walk(node.test))
        and (counting or not counts(node))
    )


def _block(block: Block, counting: bool) -> Block:
    return replace(block, statements=[_statement(each, counting) for each in block.statements])


def _statement(node: Statement, counting: bool) -> Statement:
    if isinstance(node, Block):
        return _block(node, counting)
    if isinstance(node, If):
        one, other = (_block(each, counting) for each in (node.one, node.other))
        return replace(node, one=one, other=other)
    if isinstance(node, Refused):
        return replace(node, blocks=tuple(_block(each, counting) for each in node.blocks))
    if not isinstance(node, For | While):
        return node
    loop = replace(node, body=_block(node.body, counting))
    if not isinstance(loop, While) or not _assigns(loop, counting):
        return loop
    first: list[Statement] = []
    for test in _conjuncts(loop.test):
        steps, plain = tested(test)
        if any(isinstance(each, Assignment) for each in walk(plain)):
            return loop
        first += [Evaluate(loop.place, loop.start, loop.start, each) for each in steps]
        first.append(ended_unless(plain, loop.body.start))
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


def ended_unless(test: Expression, at: int) -> If:
    """`if (test) ; else break;`, at an offset in the body of a loop."""
    nothing = Block(test.place, at, at, [])
    leaving = Block(test.place, at, at, [Refused(test.place, at, at, BREAK, leaves=True)])
    return If(test.place, at, at, test, nothing, leaving)
