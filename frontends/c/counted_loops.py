"""Loop canonicalisation: `while` loops that count as `for` loops with a variable of their own.

i = 0; while (i < n) { A[i] = 0; i++; }   ->   i = 0; for (k = 0; k < n; k++) A[k] = 0;
while (n-- > 0) *p++ = 0;                 ->   for (k = n; k > 0; k--) *p++ = 0;
while (p < e) s += *p++;                  ->   for (k = p; k < e; k++) s += *p++;
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from .c_types import INT, IntegerType, PointerType
from .loop_steps import added, is_name
from .tree import (
    Assignment,
    Binary,
    Block,
    Call,
    Conditional,
    Declare,
    Evaluate,
    Expression,
    For,
    If,
    Literal,
    Name,
    Refused,
    Statement,
    Subscript,
    Symbol,
    While,
    all_expressions,
    all_statements,
    bare,
    expressions_of,
    parts_of,
    walk,
    with_parts,
)
from .variables import reads_before

Behind: TypeAlias = "tuple[Sequence[Statement], ...]"
_COMPARISONS = ("<", "<=", ">", ">=", "!=")


def with_for_loops(block: Block, behind: Sequence[Statement]) -> Block:
    """A block where loops count whose variables are not read behind them.

    `behind` are the statements that may run when the block has run, and there are no labels.
    """
    return _block(block, tuple([each] for each in behind))


def counts(node: While) -> bool:
    """Whether the loop has a variable that each iteration moves by the same distance."""
    return (_by_test(node) or _by_last_statement(node) or _by_move(node)) is not None


def _block(block: Block, behind: Behind) -> Block:
    """A block; `behind` are the statements that follow it, from the innermost block outwards."""
    statements: list[Statement] = []
    for position, node in enumerate(block.statements):
        rest = (block.statements[position + 1 :], *behind)
        if isinstance(node, While) and (loop := _counted(node, statements, rest)) is not None:
            node = loop
        statements.append(_inside(node, rest))
    return replace(block, statements=statements)


def _inside(node: Statement, behind: Behind) -> Statement:
    """A statement whose own blocks are canonical; what is in a loop may run again."""
    if isinstance(node, Block):
        return _block(node, behind)
    if isinstance(node, For | While):
        return replace(node, body=_block(node.body, ([node], *behind)))
    if isinstance(node, If):
        return replace(node, one=_block(node.one, behind), other=_block(node.other, behind))
    if isinstance(node, Refused):
        again = ([node], *behind)
        return replace(node, blocks=tuple(_block(each, again) for each in node.blocks))
    return node


@dataclass(frozen=True)
class _Count:
    """How a loop counts: its test and step, with `value` for the variable in the body."""

    symbol: Symbol
    test: Expression
    step: Assignment
    body: list[Statement]
    moved: Assignment | None = None


def _counted(node: While, before: Sequence[Statement], behind: Behind) -> For | None:
    """The loop as one that counts; None for all others."""
    count = _by_test(node) or _by_last_statement(node)
    if count is None:
        return _with_counter(node)
    if not _may_be_replaced(count, behind):
        return None
    old = count.symbol
    # The variable is not read behind the loop: the text keeps its own, and this one counts.
    new = Symbol(old.name, old.type, old.place, old.offset)
    name = Name(node.place, old.type, new)

    def renamed(each: Expression) -> Expression:
        return name if is_name(each, old) else each

    inside: Expression = name
    if count.moved is not None:
        operator = count.moved.operator
        inside = Binary(node.place, old.type, operator, name, count.moved.value)

    def in_body(each: Expression) -> Expression:
        return inside if is_name(each, old) else each

    first = Declare(node.place, node.start, node.start, new, _first(old, node, before))
    step = mapped(count.step, renamed)
    test = mapped(count.test, renamed)
    body = replace(node.body, statements=[mapped_statement(each, in_body) for each in count.body])
    return For(node.place, node.start, node.end, first, test, step, body)


def _by_last_statement(node: While) -> _Count | None:
    """`while (i < n) { ...; i++; }`."""
    statements = node.body.statements
    last = statements[-1] if statements else None
    step = last.expression if isinstance(last, Evaluate) else None
    test = bare(node.test)
    if not isinstance(step, Assignment) or not isinstance(step.target, Name):
        return None
    symbol = step.target.symbol
    if added(step, symbol) is None or not isinstance(test, Binary):
        return None
    if not _compares(test, symbol) or _is_assigned(symbol, [test]):
        return None
    return _Count(symbol, node.test, step, statements[:-1])


def _compares(test: Expression, symbol: Symbol) -> bool:
    """Whether all parts of a condition compare the variable with something."""
    test = bare(test)
    if not isinstance(test, Binary):
        return False
    if test.operator == "&&":
        return _compares(test.left, symbol) and _compares(test.right, symbol)
    sides = [each for each in (test.left, test.right) if _mentions(each, symbol)]
    if test.operator not in _COMPARISONS or len(sides) != 1:
        return False
    return not any(isinstance(each, Subscript | Call) for each in walk(sides[0]))


def _by_test(node: While) -> _Count | None:
    """`while (i-- > 0) ...`, `while (n--) ...`, `while (i++ < n) ...`, `while (--i >= 0) ...`."""
    test = bare(node.test)
    zero = Literal(test.place, INT, 0)
    if isinstance(test, Assignment):
        test = Binary(test.place, INT, "!=", test, zero)
    moved = [each for each in walk(test) if isinstance(each, Assignment)]
    if not isinstance(test, Binary) or test.operator not in _COMPARISONS or len(moved) != 1:
        return None
    step = moved[0]
    target = step.target
    if not isinstance(target, Name) or not isinstance(target.type, IntegerType):
        return None
    amount = bare(step.value)
    if step.operator not in ("+", "-") or getattr(amount, "value", None) != 1:
        return None
    if bare(test.left) is not step or _mentions(test.right, target.symbol):
        return None
    if target.type.width < INT.width or not (step.is_postfix or target.type.signed):
        return None
    # What counts down to zero ends there, from wherever it begins.
    is_end = test.operator == "!=" and step.operator == "-" and _is_zero(test.right)
    operator = ">" if is_end else test.operator
    shifted = Binary(step.place, target.type, step.operator, target, step.value)
    compared = target if step.is_postfix else shifted

    def left(each: Expression) -> Expression:
        return compared if each is step else each

    changed = Binary(test.place, test.type, operator, mapped(test.left, left), test.right)
    return _Count(
        target.symbol, changed, replace(step, is_postfix=False), node.body.statements, step
    )


def _with_counter(node: While) -> For | None:
    """A loop over a pointer that its body moves, with a second pointer that counts."""
    moved = _by_move(node)
    if moved is None:
        return None
    old = moved.symbol
    new = Symbol(old.name, old.type, old.place, old.offset)

    def renamed(each: Expression) -> Expression:
        return Name(each.place, old.type, new) if is_name(each, old) else each

    start = Name(node.place, old.type, old)
    first = Declare(node.place, node.start, node.start, new, start)
    amount = Literal(node.place, INT, 1)
    step = Assignment(node.place, old.type, "+", Name(node.place, old.type, new), amount, old.type)
    return For(node.place, node.start, node.end, first, mapped(node.test, renamed), step, node.body)


def _by_move(node: While) -> Name | None:
    """The pointer that the test compares, and each iteration moves to the next element."""
    test = bare(node.test)
    if not isinstance(test, Binary) or test.operator not in ("<", "!="):
        return None
    pointer = bare(test.left)
    if not isinstance(pointer, Name) or not isinstance(pointer.type, PointerType):
        return None
    symbol, pieces = pointer.symbol, list(all_statements(node.body.statements))
    leaves = any(isinstance(each, Refused) and each.leaves for each in pieces)
    if leaves or symbol.is_global or symbol.has_address or symbol.is_volatile:
        return None
    moves = [
        each
        for each in all_expressions(node.body.statements)
        if isinstance(each, Assignment) and is_name(each.target, symbol)
    ]
    always = [
        each
        for statement in node.body.statements
        if isinstance(statement, Declare | Evaluate)
        for expression in expressions_of(statement)
        for each in _evaluated(expression)
    ]
    is_one = len(moves) == 1 and any(each is moves[0] for each in always)
    step = added(moves[0], symbol) if is_one else None
    is_next = step is not None and step[0] == 1 and getattr(bare(step[1]), "value", None) == 1
    ends = [each.symbol for each in walk(test.right) if isinstance(each, Name)]
    inside = list(all_expressions(node.body.statements))
    kept = not any(_is_assigned(each, inside) for each in ends if each is not symbol)
    return pointer if is_next and kept and symbol not in ends else None


def _evaluated(node: Expression) -> Iterator[Expression]:
    """An expression and the parts of it that are always evaluated."""
    yield node
    if isinstance(node, Conditional) or (
        isinstance(node, Binary) and node.operator in ("&&", "||")
    ):
        return
    for part in parts_of(node):
        yield from _evaluated(part)


def _is_zero(node: Expression) -> bool:
    node = bare(node)
    return isinstance(node, Literal) and node.value == 0


def _may_be_replaced(count: _Count, behind: Behind) -> bool:
    """Whether nothing but the loop's own head sets its variable, and nothing behind reads it."""
    symbol = count.symbol
    if not isinstance(symbol.type, IntegerType | PointerType) or symbol.is_volatile:
        return False
    if symbol.is_global or symbol.has_address:
        return False
    pieces = list(all_statements(count.body))
    if any(isinstance(each, Refused) and each.leaves for each in pieces):
        return False
    inside = list(all_expressions(count.body))
    declared = [each.symbol for each in pieces if isinstance(each, Declare)]
    lengths = [one for each in declared for extent in each.extents for one in walk(extent)]
    if _is_assigned(symbol, inside) or any(is_name(each, symbol) for each in lengths):
        return False
    return not is_read_behind(symbol, behind)


def is_read_behind(symbol: Symbol, behind: Behind) -> bool:
    """Whether the value of a variable may be read behind a loop."""
    for statements in behind:
        is_read, is_set = reads_before(symbol, statements, False)
        if is_read:
            return True
        jumps = (isinstance(each, Refused) and each.leaves for each in all_statements(statements))
        if is_set and not any(jumps):
            return False
    return False


def _first(symbol: Symbol, node: While, before: Sequence[Statement]) -> Expression:
    """The first value: what the statement before sets the variable to, where it is known there."""
    current = Name(node.place, symbol.type, symbol)
    for statement in reversed(before):
        value = _set_to(statement, symbol)
        if value is not None and isinstance(bare(value), Literal):
            return value
        if not isinstance(statement, Declare | Evaluate) or _is_assigned(
            symbol, all_expressions([statement])
        ):
            return current
    return current


def _set_to(statement: Statement, symbol: Symbol) -> Expression | None:
    """The value that a statement gives the variable."""
    if isinstance(statement, Declare) and statement.symbol is symbol and statement.value:
        return statement.value
    expression = statement.expression if isinstance(statement, Evaluate) else None
    if isinstance(expression, Assignment) and is_name(expression.target, symbol):
        return None if expression.operator else expression.value
    return None


def _is_assigned(symbol: Symbol, expressions: Iterable[Expression]) -> bool:
    return any(
        isinstance(each, Assignment) and is_name(each.target, symbol)
        for expression in expressions
        for each in walk(expression)
    )


def _mentions(node: Expression, symbol: Symbol) -> bool:
    return any(is_name(each, symbol) for each in walk(node))


def mapped(node: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression with others in place of some of its parts."""
    changed = change(node)
    if changed is not node:
        return changed
    old = parts_of(node)
    new = tuple(mapped(each, change) for each in old)
    is_same = all(one is other for one, other in zip(old, new, strict=True))
    return node if is_same else with_parts(node, new)


def mapped_statement(node: Statement, change: Callable[[Expression], Expression]) -> Statement:
    """The statement with others in place of some of its expressions."""

    def block(each: Block) -> Block:
        return replace(each, statements=[mapped_statement(one, change) for one in each.statements])

    def own(each: Expression) -> Expression:
        return mapped(each, change)

    if isinstance(node, Evaluate):
        return replace(node, expression=own(node.expression))
    if isinstance(node, Declare):
        return node if node.value is None else replace(node, value=own(node.value))
    if isinstance(node, Block):
        return block(node)
    if isinstance(node, If):
        return replace(node, test=own(node.test), one=block(node.one), other=block(node.other))
    if isinstance(node, While):
        return replace(node, test=own(node.test), body=block(node.body))
    if isinstance(node, For):
        first, test, step = mapped_statement(node.first, change), own(node.test), own(node.step)
        return replace(node, first=first, test=test, step=step, body=block(node.body))
    expressions = tuple(map(own, node.expressions))
    return replace(node, expressions=expressions, blocks=tuple(map(block, node.blocks)))
