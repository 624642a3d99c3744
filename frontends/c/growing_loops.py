"""`for` loops whose step is no constant, or whose condition is no bound, as `while` loops.

for (int len = 2; len <= n; len *= 2) A   ->   int len = 2; while (len <= n) { A len *= 2; }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .arithmetic import SWAPPED
from .counted_loops import Behind
from .early_exits import with_own_variable
from .loop_steps import added, is_name
from .tree import (
    Binary,
    Block,
    Call,
    Evaluate,
    Expression,
    For,
    If,
    Name,
    Refused,
    Statement,
    Subscript,
    Symbol,
    While,
    all_statements,
    bare,
    walk,
)
from .variables import loop_symbol


def may_grow(block: Block) -> bool:
    """Whether some loops may have no constant steps or no bounds."""
    return any(isinstance(each, For) and _may_grow(each) for each in all_statements([block]))


def grows(block: Block) -> bool:
    """Whether the steps of some loops add nothing to their variables."""
    return any(isinstance(each, For) and _grows(each) for each in all_statements([block]))


def without_growing(block: Block, behind: Sequence[Statement]) -> Block:
    """A block without such loops; `behind` are the statements that may run when it has run."""
    return _block(block, tuple([each] for each in behind))


def _grows(loop: For) -> bool:
    symbol = loop_symbol(loop)
    return symbol is not None and added(loop.step, symbol) is None


def _may_grow(loop: For) -> bool:
    symbol = loop_symbol(loop)
    step = None if symbol is None else added(loop.step, symbol)
    if symbol is None or step is None:
        return symbol is not None
    return not _is_bounded(loop.test, symbol) or any(
        isinstance(each, Subscript | Call)
        or (isinstance(each, Name) and each.symbol.constant is None)
        for each in walk(step[1])
    )


def _is_bounded(test: Expression, symbol: Symbol) -> bool:
    """Whether a condition compares the variable of a loop with bounds: `i < n && i + 1 < m`."""
    test = bare(test)
    if isinstance(test, Binary) and test.operator == "&&":
        return _is_bounded(test.left, symbol) and _is_bounded(test.right, symbol)
    if not isinstance(test, Binary) or test.operator not in SWAPPED:
        return False
    sides = [each for each in (test.left, test.right) if _mentions(each, symbol)]
    if len(sides) != 1:
        return False
    side = bare(sides[0])
    parts = (
        (bare(side.left), bare(side.right))
        if isinstance(side, Binary) and side.operator in ("+", "-")
        else (side,)
    )
    return any(is_name(each, symbol) for each in parts)


def _mentions(node: Expression, symbol: Symbol) -> bool:
    return any(is_name(each, symbol) for each in walk(node))


def _block(block: Block, behind: Behind) -> Block:
    """A block; `behind` are the statements that follow it, from the innermost block outwards."""
    statements: list[Statement] = []
    for position, node in enumerate(block.statements):
        statements.append(_statement(node, (block.statements[position + 1 :], *behind)))
    return replace(block, statements=statements)


def _statement(node: Statement, behind: Behind) -> Statement:
    if isinstance(node, Block):
        return _block(node, behind)
    if isinstance(node, If):
        return replace(node, one=_block(node.one, behind), other=_block(node.other, behind))
    if isinstance(node, Refused):
        again = ([node], *behind)
        return replace(node, blocks=tuple(_block(each, again) for each in node.blocks))
    if not isinstance(node, For | While):
        return node
    loop = replace(node, body=_block(node.body, ([node], *behind)))
    if not isinstance(loop, For) or not _may_grow(loop):
        return loop
    loop = with_own_variable(loop, behind)
    step = Evaluate(loop.place, loop.end, loop.end, loop.step)
    body = replace(loop.body, statements=[loop.body, step])
    # In a block of its own: the variable is another one each time that the loop is reached.
    whole = While(loop.place, loop.start, loop.end, loop.test, body)
    return Block(loop.place, loop.start, loop.end, [loop.first, whole])
