"""`goto` to a label further down in a block around it, as conditions and `break`.

if (a) goto skip; A; skip: B         ->   if (!a) A; B
for (...) { if (a) goto out; A }     ->   for (...) { if (a) break; A }
out: B                                    B
for (...) for (...) if (a) goto out; ->   int left = 0;
A; out: B                                 for (...) { for (...) if (a) { left = 1; break; }
                                                      if (left) break; }
                                          if (!left) A; B
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from .c_types import INT
from .jumps import BREAK, assigned, holds, is_jump, number, whole
from .tree import (
    Block,
    Declare,
    For,
    If,
    Name,
    Refused,
    Statement,
    Symbol,
    While,
    all_expressions,
    all_statements,
)


def jump_to(label: str) -> str:
    """The reason for which a jump to a label is refused."""
    return f"'goto {label}' is not supported here"


def without_forward_jumps(statements: list[Statement]) -> list[Statement]:
    """The statements of a block without the labels that are only reached from before them."""
    position = 0
    while position < len(statements):
        place = statements[position]
        if isinstance(place, Refused) and place.label and place.blocks:
            behind = [*place.blocks[0].statements, *statements[position + 1 :]]
            before = _ended(statements[:position], behind, place)
            if before is not None and not _jumps(behind, place.label):
                statements, position = [*before, *behind], len(before)
                continue
        position += 1
    return statements


def _jumps(statements: Sequence[Statement], label: str) -> int:
    """How many jumps to a label are in statements and their loops."""
    return sum(is_jump(each, jump_to(label)) for each in all_statements(statements))


def _ended(
    statements: list[Statement], behind: Sequence[Statement], place: Refused
) -> list[Statement] | None:
    """What stands before a label, without jumps to it; None where some stay, or there are none."""
    label = place.label
    first = next((n for n, each in enumerate(statements) if _jumps([each], label)), None)
    if first is None:
        return None
    before, segment = statements[:first], statements[first:]
    used = {each.symbol for each in all_expressions(behind) if isinstance(each, Name)}
    if any(isinstance(each, Declare) and each.symbol in used for each in segment):
        return None  # it would be declared under a condition
    begin, parts = segment[0], _without_loops(segment, label, is_last=True)
    inner = Block(begin.place, begin.start, place.start, parts, is_group=True)
    inner = whole(inner, jump_to(label))
    if _jumps(inner.statements, label):
        return None
    return [*before, *(inner.statements if len(inner.statements) == 1 else [inner])]


def _without_loops(
    statements: Sequence[Statement], label: str, *, is_last: bool
) -> list[Statement]:
    """Statements whose loops are left by `break`, and jump behind them; the last ones need not."""
    found: list[Statement] = []
    for position, each in enumerate(statements):
        is_end = is_last and position + 1 == len(statements)
        inside = partial(_inside, label=label, is_last=is_end)
        if not _jumps([each], label):
            found.append(each)
        elif isinstance(each, Block | If):
            found.append(_with_blocks(each, inside))
        elif isinstance(each, For | While):
            found += _left(each, label, is_last=is_end)
        else:
            found.append(each)
    return found


def _inside(block: Block, label: str, *, is_last: bool) -> Block:
    return replace(block, statements=_without_loops(block.statements, label, is_last=is_last))


def _with_blocks(node: Block | If, changed: Callable[[Block], Block]) -> Block | If:
    if isinstance(node, Block):
        return changed(node)
    return replace(node, one=changed(node.one), other=changed(node.other))


def _left(loop: For | While, label: str, *, is_last: bool) -> list[Statement]:
    """A loop that is left by `break`, and the jump to the label behind it."""
    if is_last and not any(_jumps(_loops_in([each]), label) for each in loop.body.statements):
        return [replace(loop, body=_with_breaks(loop.body, label, None))]
    left = Symbol("left", INT, loop.place, 0)
    first = Declare(loop.place, loop.start, loop.start, left, number(loop, 0))
    loop = replace(loop, body=_with_breaks(loop.body, label, left))
    return [first, loop, *([] if is_last else [_if_left(loop, left, jump_to(label))])]


def _loops_in(statements: Sequence[Statement]) -> list[Statement]:
    return [each for each in all_statements(statements) if isinstance(each, For | While)]


def _if_left(loop: For | While, left: Symbol, reason: str) -> If:
    """The jump that is made behind a loop which was left."""
    place, end = loop.place, loop.end
    jump = Refused(place, end, end, reason, leaves=True)
    one, other = Block(place, end, end, [jump]), Block(place, end, end, [])
    return If(place, end, end, holds(loop, left), one, other)


def _with_breaks(body: Block, label: str, left: Symbol | None) -> Block:
    """The body of a loop that `break` leaves in place of jumps, which set a variable to 1."""
    statements: list[Statement] = []
    for each in body.statements:
        inside = partial(_with_breaks, label=label, left=left)
        if is_jump(each, jump_to(label)):
            statements += [] if left is None else [assigned(each, left, 1)]
            statements.append(Refused(each.place, each.start, each.end, BREAK, leaves=True))
        elif not _jumps([each], label):
            statements.append(each)
        elif isinstance(each, Block | If):
            statements.append(_with_blocks(each, inside))
        elif isinstance(each, For | While) and left is not None:
            loop = replace(each, body=inside(each.body))
            statements += [loop, _if_left(loop, left, BREAK)]
        else:
            statements.append(each)
    return replace(body, statements=statements)
