"""Loops that end at `break`, as `while` loops with a variable that says whether they go on.

for (int i = 0; i < n; i++)          ->   int goes_on = 1; int i = 0;
    if (a[i] == x) break;                 while (goes_on != 0 && i < n)
    else s += a[i];                           if (a[i] == x) goes_on = 0;
                                              else { s += a[i]; i++; }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .c_types import INT
from .counted_loops import Behind, is_read_behind, mapped, mapped_statement
from .jumps import BREAK, CONTINUE, has_jump, holds, number, whole, without_jumps
from .loop_steps import is_name
from .tree import (
    Binary,
    Block,
    Declare,
    Evaluate,
    Expression,
    For,
    If,
    Name,
    Statement,
    Symbol,
    While,
    all_statements,
    walk,
)
from .variables import loop_symbol


def without_early_exits(block: Block, behind: Sequence[Statement]) -> Block:
    """A block whose loops run to their ends, and the bodies of loops, too.

    `behind` are the statements that may run when the block has run.
    """
    loops = [each for each in all_statements(block.statements) if isinstance(each, For | While)]
    if not any(_jumps(each, BREAK) or _jumps(each, CONTINUE) for each in loops):
        return block
    return _block(block, tuple([each] for each in behind))


def _jumps(loop: For | While, reason: str) -> bool:
    return has_jump(loop.body.statements, reason)


def _block(block: Block, behind: Behind) -> Block:
    """A block; `behind` are the statements that follow it, from the innermost block outwards."""
    statements: list[Statement] = []
    for position, node in enumerate(block.statements):
        statements += _statement(node, (block.statements[position + 1 :], *behind))
    return replace(block, statements=statements)


def _statement(node: Statement, behind: Behind) -> list[Statement]:
    if isinstance(node, Block):
        return [_block(node, behind)]
    if isinstance(node, If):
        return [replace(node, one=_block(node.one, behind), other=_block(node.other, behind))]
    if not isinstance(node, For | While):
        return [node]
    loop = replace(node, body=_block(node.body, ([node], *behind)))
    loop = replace(loop, body=whole(loop.body, CONTINUE))
    return _ended(loop, behind) if _jumps(loop, BREAK) else [loop]


def _ended(loop: For | While, behind: Behind) -> list[Statement]:
    """A loop without `break`."""
    goes_on = Symbol("goes_on", INT, loop.place, 0)
    first: list[Statement] = []
    last: list[Statement] = []
    test, body = loop.test, loop.body
    if isinstance(loop, For):
        loop = with_own_variable(loop, behind)
        first, test, body = [loop.first], loop.test, loop.body
        last = [Evaluate(loop.place, loop.end, loop.end, loop.step)]
    body = replace(body, statements=[*body.statements, *last])
    both = Binary(test.place, INT, "&&", holds(test, goes_on), test)
    begin = Declare(loop.place, loop.start, loop.start, goes_on, number(loop, 1))
    body = without_jumps(body, BREAK, goes_on)
    # In a block of its own: the variables are other ones each time that the loop is reached.
    ended = While(loop.place, loop.start, loop.end, both, body)
    return [Block(loop.place, loop.start, loop.end, [begin, *first, ended])]


def with_own_variable(loop: For, behind: Behind) -> For:
    """A loop whose variable is no other loop's, where nothing behind reads it."""
    old = loop_symbol(loop)
    if old is None or isinstance(loop.first, Declare) or is_read_behind(old, behind):
        return loop
    if not isinstance(loop.first, Evaluate):
        return loop
    new = replace(old)

    def renamed(each: Expression) -> Expression:
        return Name(each.place, old.type, new) if is_name(each, old) else each

    value = getattr(loop.first.expression, "value", None)
    if value is None or any(is_name(each, old) for each in walk(value)):
        return loop
    first = Declare(loop.place, loop.first.start, loop.first.end, new, value)
    statements = [mapped_statement(each, renamed) for each in loop.body.statements]
    body = replace(loop.body, statements=statements)
    test, step = mapped(loop.test, renamed), mapped(loop.step, renamed)
    return replace(loop, first=first, test=test, step=step, body=body)
