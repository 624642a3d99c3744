"""Unrolling of short loops along constant tables of subscripts: stencils and lattices by offsets.

static const int dx[2] = {-1, 1};
for (k = 0; k < 2; k++) s += A[i + dx[k]];   ->   { s += A[i + -1]; } { s += A[i + 1]; }
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from .c_types import ArrayType, CType, IntegerType
from .counted_loops import Behind, is_read_behind, mapped_statement
from .loop_steps import added, first_value, is_name
from .tree import (
    Assignment,
    Binary,
    Block,
    Cast,
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
    Unary,
    While,
    all_expressions,
    all_statements,
    bare,
    expressions_of,
    walk,
)
from .variables import loop_symbol

_MOST_ITERATIONS = 32
_MOST_PIECES = 6000
"""Expressions of a loop that is unrolled, and those inside of them."""

_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "!=": operator.ne,
}
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": int.__add__,
    "-": int.__sub__,
    "*": int.__mul__,
    "/": int.__floordiv__,
    "%": int.__mod__,
    "&": int.__and__,
    "|": int.__or__,
    "^": int.__xor__,
}


def has_tables(block: Block) -> bool:
    """Whether constant arrays are among what statements use."""
    return any(
        isinstance(each, Name) and each.symbol.table is not None
        for each in all_expressions([block])
    )


def without_table_loops(block: Block, behind: Sequence[Statement]) -> Block:
    """A block without such loops; `behind` are the statements that may run when it has run.

    Elements of tables at subscripts that are known are numbers.
    """
    unrolled = _block(block, tuple([each] for each in behind), _leading(block))
    changed = mapped_statement(unrolled, _looked_up)
    assert isinstance(changed, Block)
    return changed


def _addressing(block: Block) -> frozenset[Symbol]:
    """The variables that subscripts and the heads of loops are computed from."""
    pieces = list(all_statements(block.statements))
    found: set[Symbol] = set()
    for each in pieces:
        for part in _addresses(each):
            found |= _names(part)
    values = [pair for each in pieces if (pair := _assigned(each)) is not None]
    before = -1
    while before < len(found):
        before = len(found)
        for symbol, value in values:
            if symbol in found:
                found |= _names(value)
    return frozenset(found)


def _addresses(statement: Statement) -> Iterator[Expression]:
    """What says which elements a statement accesses, and how often a loop runs."""
    expressions = expressions_of(statement)
    if isinstance(statement, For | While):
        yield from expressions
    for expression in expressions:
        for each in walk(expression):
            if isinstance(each, Subscript):
                yield each.index


def _assigned(statement: Statement) -> tuple[Symbol, Expression] | None:
    """The variable that a statement sets, and its value."""
    if isinstance(statement, Declare) and statement.value is not None:
        return statement.symbol, statement.value
    expression = statement.expression if isinstance(statement, Evaluate) else None
    if isinstance(expression, Assignment) and isinstance(expression.target, Name):
        return expression.target.symbol, expression.value
    return None


def _names(expression: Expression) -> set[Symbol]:
    return {each.symbol for each in walk(expression) if isinstance(each, Name)}


def _block(block: Block, behind: Behind, tables: frozenset[Symbol]) -> Block:
    """A block; `behind` are the statements that follow it, from the innermost block outwards."""
    statements: list[Statement] = []
    for position, node in enumerate(block.statements):
        rest = (block.statements[position + 1 :], *behind)
        statements.append(_statement(node, rest, tables))
    return replace(block, statements=statements)


def _statement(node: Statement, behind: Behind, tables: frozenset[Symbol]) -> Statement:
    if isinstance(node, Block):
        return _block(node, behind, tables)
    if isinstance(node, If):
        one, other = (_block(each, behind, tables) for each in (node.one, node.other))
        return replace(node, one=one, other=other)
    if isinstance(node, Refused):
        again = ([node], *behind)
        return replace(node, blocks=tuple(_block(e, again, tables) for e in node.blocks))
    if not isinstance(node, For | While):
        return node
    loop = replace(node, body=_block(node.body, ([node], *behind), tables))
    symbol = loop_symbol(loop) if isinstance(loop, For) else None
    if not isinstance(loop, For) or symbol is None:
        return loop
    values = _values(loop, symbol)
    pieces = list(all_expressions([loop.body]))
    if (
        values is None
        or len(values) * len(pieces) > _MOST_PIECES
        or not _leads(pieces, symbol, tables)
        or any(isinstance(each, Refused) for each in all_statements([loop.body]))
        or is_read_behind(symbol, behind)
    ):
        return loop
    copies = [_copy(loop.body, symbol, each) for each in values]
    return Block(loop.place, loop.start, loop.end, copies)


def _values(loop: For, symbol: Symbol) -> list[int] | None:
    """The values of a loop's variable; None for more than a few, and where they are not known."""
    test, step = bare(loop.test), added(loop.step, symbol)
    first = first_value([loop.first], symbol)
    value = None if first is None else _number(first)
    by = None if step is None else _number(step[1])
    if not isinstance(test, Binary) or test.operator not in _COMPARISONS:
        return None
    end, kinds = _number(test.right), (symbol.type, test.left.type)
    if (
        value is None
        or step is None
        or not by
        or end is None
        or not is_name(bare(test.left), symbol)
        or _is_changed(loop.body, symbol)
    ):
        return None
    found: list[int] = []
    while _are_in(kinds, value) and _COMPARISONS[test.operator](value, end):
        if len(found) == _MOST_ITERATIONS:
            return None
        found.append(value)
        value += step[0] * by
    return found if _are_in(kinds, value) else None


def _are_in(kinds: Sequence[CType], value: int) -> bool:
    """Whether a number is one of all of several types."""
    return all(
        isinstance(kind, IntegerType) and kind.lowest <= value <= kind.highest for kind in kinds
    )


def _is_changed(body: Block, symbol: Symbol) -> bool:
    if symbol.is_global or symbol.has_address or symbol.is_volatile:
        return True
    lengths = (
        extent
        for each in all_statements([body])
        if isinstance(each, Declare)
        for extent in each.symbol.extents
    )
    return any(symbol in _names(each) for each in lengths) or any(
        isinstance(each, Assignment) and is_name(each.target, symbol)
        for each in all_expressions([body])
    )


def _leading(block: Block) -> frozenset[Symbol]:
    """The tables of integers whose elements say where others are."""
    addressing, found = _addressing(block), set[Symbol]()
    for statement in all_statements(block.statements):
        assigned = _assigned(statement)
        places = [*_addresses(statement)]
        if assigned is not None and assigned[0] in addressing:
            places.append(assigned[1])
        for each in (one for place in places for one in walk(place)):
            table = _table(each) if isinstance(each, Subscript) else None
            if table is not None and isinstance(each.type, IntegerType):
                found.add(table[0])
    return frozenset(found)


def _leads(pieces: Sequence[Expression], symbol: Symbol, tables: frozenset[Symbol]) -> bool:
    """Whether elements of such tables are read at subscripts with the variable."""
    for each in pieces:
        table = _table(each) if isinstance(each, Subscript) else None
        if table is not None and table[0] in tables and symbol in _names(each):
            return True
    return False


def _table(node: Subscript) -> tuple[Symbol, list[Expression]] | None:
    """The table that an element is of, and its subscripts."""
    subscripts: list[Expression] = []
    base: Expression = node
    while isinstance(base, Subscript):
        subscripts.insert(0, base.index)
        base = base.base
    if not isinstance(base, Name) or isinstance(node.type, ArrayType):
        return None
    return None if base.symbol.table is None else (base.symbol, subscripts)


def _copy(body: Block, symbol: Symbol, value: int) -> Statement:
    """An iteration. Pieces are told apart by identity: none is that of another iteration."""

    def changed(each: Expression) -> Expression:
        if not isinstance(each, Name):
            return each
        if each.symbol is symbol:
            return Literal(each.place, each.type, value)
        return replace(each)

    return mapped_statement(body, changed)


def _looked_up(node: Expression) -> Expression:
    """The number that an element of a table is, where its subscripts are known."""
    if isinstance(node, Unary) and node.operator == "&":
        return replace(node)  # an address: nothing in it is looked up
    found = _table(node) if isinstance(node, Subscript) else None
    if found is None:
        return node
    symbol, subscripts = found
    position = tuple(each for part in subscripts if (each := _number(part)) is not None)
    value = (
        symbol.table.get(position) if symbol.table and len(position) == len(subscripts) else None
    )
    return node if value is None else Literal(node.place, node.type, value)


def _number(node: Expression) -> int | None:
    """The value of a constant integer; None for others."""
    kind = node.type
    if not isinstance(kind, IntegerType):
        return None
    value: int | None = None
    if isinstance(node, Literal) and isinstance(node.value, int):
        value = node.value
    elif isinstance(node, Name) and isinstance(node.symbol.constant, int):
        value = node.symbol.constant
    elif isinstance(node, Cast):
        value = _number(node.operand)
    elif isinstance(node, Unary) and node.operator in ("-", "+"):
        inner = _number(node.operand)
        value = inner if inner is None or node.operator == "+" else -inner
    elif isinstance(node, Binary) and node.operator in _ARITHMETIC:
        one, other = _number(node.left), _number(node.right)
        is_exact = node.operator not in ("/", "%") or (one or 0) >= 0 < (other or 0)
        if one is not None and other is not None and is_exact:
            value = _ARITHMETIC[node.operator](one, other)
    elif isinstance(node, Subscript):
        known = _looked_up(node)
        return known.value if isinstance(known, Literal) and isinstance(known.value, int) else None
    return value if value is not None and kind.lowest <= value <= kind.highest else None
