"""Local variables of a region: where each lives, and whether it is one SSA value."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from .c_types import NumberType
from .tree import (
    Assignment,
    Block,
    Declare,
    Evaluate,
    Expression,
    For,
    If,
    Name,
    Refused,
    Statement,
    Symbol,
    While,
    all_expressions,
    blocks_of,
    expressions_of,
    walk,
)


@dataclass(eq=False)
class Variable:
    """A local variable, or one of its independent uses.

    It lives in one block of statements; what another block does with the name is another variable.
    One that is assigned once, in its own block, is an SSA value; others are a memory cell.
    """

    symbol: Symbol
    block: Block
    assignments: int = 0
    in_own_block: bool = True
    cell: str = ""
    uses: list[Name] = field(default_factory=list[Name])

    @property
    def is_value(self) -> bool:
        """Whether it is one SSA value."""
        return self.assignments == 1 and self.in_own_block


@dataclass
class Variables:
    """The variables of a region: by use, and by declaration with a value.

    `kept` are those from outside whose values before the region, or behind it, matter; `assigned`
    has a place where each is assigned.
    """

    assigned: dict[Symbol, Name | Declare]
    of: dict[Name, Variable] = field(default_factory=dict[Name, Variable])
    declared: dict[Declare, Variable] = field(default_factory=dict[Declare, Variable])
    kept: list[Symbol] = field(default_factory=list[Symbol])

    def forget_cells(self) -> None:
        """Before the region is printed again."""
        for variable in (*self.of.values(), *self.declared.values()):
            variable.cell = ""


def assigned_symbols(
    statements: Sequence[Statement], loops: Collection[Symbol]
) -> dict[Symbol, Name | Declare]:
    """The variables that statements assign, but for those of loops, each with one place.

    A declaration counts, but without a value (`int i;`) not for the variables of `loops`.
    """
    found: dict[Symbol, Name | Declare] = {}
    for statement in statements:
        if (
            isinstance(statement, Declare)
            and isinstance(statement.symbol.type, NumberType)
            and (statement.value is not None or statement.symbol not in loops)
        ):
            found.setdefault(statement.symbol, statement)
        if isinstance(statement, For):
            symbol = loop_symbol(statement)
            heads = (*expressions_of(statement.first), statement.test, statement.step)
            for expression in heads:
                for target in _targets(expression):
                    if target.symbol is not symbol:
                        found.setdefault(target.symbol, target)
        else:
            for expression in expressions_of(statement):
                for target in _targets(expression):
                    found.setdefault(target.symbol, target)
        for block in blocks_of(statement):
            for symbol, place in assigned_symbols(block.statements, loops).items():
                found.setdefault(symbol, place)
    return found


def loop_symbols(statements: Sequence[Statement]) -> set[Symbol]:
    """The variables of all loops in statements."""
    found: set[Symbol] = set()
    for statement in statements:
        if isinstance(statement, For) and (symbol := loop_symbol(statement)) is not None:
            found.add(symbol)
        for block in blocks_of(statement):
            found |= loop_symbols(block.statements)
    return found


def loop_symbol(loop: For) -> Symbol | None:
    """The variable that a loop's first part sets."""
    if isinstance(loop.first, Declare):
        return loop.first.symbol
    if isinstance(loop.first, Evaluate) and isinstance(loop.first.expression, Assignment):
        target = loop.first.expression.target
        return target.symbol if isinstance(target, Name) else None
    return None


def _targets(expression: Expression) -> Iterator[Name]:
    for each in walk(expression):
        if isinstance(each, Assignment) and isinstance(each.target, Name):
            yield each.target


def find_variables(region: Block, outer: set[Symbol], live_behind: set[Symbol]) -> Variables:
    """The variables that a region assigns.

    `outer` are declared outside of it, `live_behind` those of them that may be read later.
    """
    found = Variables(assigned_symbols(region.statements, loop_symbols(region.statements)))
    for symbol in found.assigned:
        if symbol in outer and (
            symbol in live_behind or reads_before(symbol, region.statements, False)[0]
        ):
            found.kept.append(symbol)
            continue
        for variable in _place(symbol, region):
            found.of.update(dict.fromkeys(variable.uses, variable))
            _declarations(variable, variable.block, found)
    return found


def _declarations(variable: Variable, block: Block, found: Variables) -> None:
    """Finds the declarations with a value in the variable's block."""
    for statement in block.statements:
        if isinstance(statement, Declare) and statement.symbol is variable.symbol:
            found.declared.setdefault(statement, variable)
        for inner in blocks_of(statement):
            _declarations(variable, inner, found)


def _uses(symbol: Symbol, statements: Sequence[Statement]) -> Iterator[Name]:
    for each in all_expressions(list(statements)):
        if isinstance(each, Name) and each.symbol is symbol:
            yield each


def _named(symbol: Symbol, expression: Expression) -> bool:
    return any(isinstance(each, Name) and each.symbol is symbol for each in walk(expression))


_USED: WeakKeyDictionary[Statement, frozenset[Symbol]] = WeakKeyDictionary()


def _symbols(statement: Statement) -> frozenset[Symbol]:
    """The variables that a statement uses or declares, with those inside of it."""
    found = _USED.get(statement)
    if found is None:
        names = (each for node in expressions_of(statement) for each in walk(node))
        symbols = {each.symbol for each in names if isinstance(each, Name)}
        if isinstance(statement, Declare):
            symbols.add(statement.symbol)
        for block in blocks_of(statement):
            for inner in block.statements:
                symbols |= _symbols(inner)
        found = _USED[statement] = frozenset(symbols)
    return found


def _is_used(symbol: Symbol, statement: Statement) -> bool:
    return symbol in _symbols(statement)


def _plain(statement: Statement, symbol: Symbol) -> Expression | None:
    """What a statement assigns to a variable, where it does so without reading it."""
    if isinstance(statement, Evaluate):
        expression = statement.expression
        while isinstance(expression, Assignment) and not expression.operator:
            target = expression.target
            if isinstance(target, Name) and target.symbol is symbol:
                return expression.value
            expression = expression.value
    return None


def _assigns(symbol: Symbol, statement: Statement) -> bool:
    """Whether a statement always gives the variable a value before it reads it."""
    if isinstance(statement, Declare):
        # Without a value, the variable has none to keep.
        return statement.symbol is symbol
    if isinstance(statement, If):
        both = (statement.one, statement.other)
        return not _named(symbol, statement.test) and all(_starts(symbol, each) for each in both)
    if isinstance(statement, Block):
        return _starts(symbol, statement)
    value = _plain(statement, symbol)
    return value is not None and sum(1 for _ in _uses(symbol, [statement])) == 1


def _starts(symbol: Symbol, block: Block) -> bool:
    """Whether a block begins its use of the variable with an assignment."""
    first = next((each for each in block.statements if _is_used(symbol, each)), None)
    return first is not None and _assigns(symbol, first)


def _independent(symbol: Symbol, block: Block) -> bool:
    """Whether a block does not depend on the value that the variable had before it."""
    using = [each for each in block.statements if _is_used(symbol, each)]
    if not using or _assigns(symbol, using[0]):
        return True
    return all(_contained(symbol, each) for each in using)


def _contained(symbol: Symbol, statement: Statement) -> bool:
    """Whether each block of a compound statement has a variable of this name of its own."""
    blocks = blocks_of(statement)
    if not blocks or any(_named(symbol, each) for each in expressions_of(statement)):
        return False
    return all(_independent(symbol, block) for block in blocks)


def _place(symbol: Symbol, block: Block) -> Iterator[Variable]:
    using = [each for each in block.statements if _is_used(symbol, each)]
    if using and all(_contained(symbol, each) for each in using):
        for statement in using:
            for inner in blocks_of(statement):
                yield from _place(symbol, inner)
    elif using:
        variable = Variable(symbol, block)
        for statement in _flat(using):
            if isinstance(statement, Declare) and statement.symbol is symbol:
                variable.assignments += statement.value is not None
            for use in _uses(symbol, [statement]):
                variable.uses.append(use)
            for expression in all_expressions([statement]):
                for _ in _own_targets(expression, symbol):
                    variable.assignments += 1
                    own = isinstance(statement, Evaluate) and not _operator(expression)
                    variable.in_own_block &= own
            if isinstance(statement, Declare):
                continue
            variable.in_own_block &= not _declares_with_value(symbol, statement)
            variable.assignments += _declares_with_value(symbol, statement)
        yield variable


def _flat(statements: Sequence[Statement]) -> Iterator[Statement]:
    """Statements, with those of blocks that stand between them."""
    for each in statements:
        if isinstance(each, Block):
            yield from _flat(each.statements)
        else:
            yield each


def _own_targets(expression: Expression, symbol: Symbol) -> Iterator[Name]:
    if isinstance(expression, Assignment):
        target = expression.target
        if isinstance(target, Name) and target.symbol is symbol:
            yield target


def _operator(expression: Expression) -> bool:
    return isinstance(expression, Assignment) and bool(expression.operator)


def _declares_with_value(symbol: Symbol, statement: Statement) -> int:
    """How many declarations inside of a statement give the variable a value."""
    return sum(
        (isinstance(each, Declare) and each.symbol is symbol and each.value is not None)
        + _declares_with_value(symbol, each)
        for block in blocks_of(statement)
        for each in block.statements
    )


def is_live(symbol: Symbol, statements: Sequence[Statement]) -> bool:
    """Whether one of several statements may read the value that a variable has before it."""
    using = (each for each in statements if _is_used(symbol, each))
    return any(reads_before(symbol, [each], False)[0] for each in using)


def _reads_first(symbol: Symbol, loop: For) -> bool:
    """Whether the first value of a loop's variable depends on the variable."""
    if isinstance(loop.first, Declare):
        return loop.first.value is not None and _named(symbol, loop.first.value)
    return _plain(loop.first, symbol) is None or sum(1 for _ in _uses(symbol, [loop.first])) != 1


def reads_before(
    symbol: Symbol, statements: Sequence[Statement], assigned: bool
) -> tuple[bool, bool]:
    """Whether the variable may be read before it is assigned, and is surely assigned behind."""
    for statement in statements:
        if assigned:
            return False, True
        if not _is_used(symbol, statement):
            continue
        if isinstance(statement, For) and loop_symbol(statement) is symbol:
            if _reads_first(symbol, statement):
                return True, False
            assigned = True
        elif isinstance(statement, Refused):
            if any(_named(symbol, each) for each in expressions_of(statement)) or any(
                reads_before(symbol, block.statements, False)[0] for block in statement.blocks
            ):
                return True, False
        elif isinstance(statement, For | If | While):
            if any(_named(symbol, each) for each in expressions_of(statement)):
                return True, False
            ends: list[bool] = []
            for block in (
                (statement.body,)
                if isinstance(statement, For | While)
                else (statement.one, statement.other)
            ):
                read, behind = reads_before(symbol, block.statements, False)
                if read:
                    return True, False
                ends.append(behind)
            assigned = isinstance(statement, If) and all(ends)
        elif isinstance(statement, Block):
            read, assigned = reads_before(symbol, statement.statements, False)
            if read:
                return True, False
        elif _assigns(symbol, statement):
            assigned = True
        elif any(True for _ in _uses(symbol, [statement])):
            return True, False
    return False, assigned
