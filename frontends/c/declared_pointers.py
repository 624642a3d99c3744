"""Pointers that are declared with a value that stays what it is."""

from __future__ import annotations

from collections.abc import Sequence, Set

from .c_types import ArrayType, PointerType
from .distances import Distance, uses
from .loop_steps import is_name
from .tree import (
    Assignment,
    Block,
    Call,
    Declare,
    Expression,
    Name,
    Statement,
    Subscript,
    Symbol,
    all_expressions,
    all_statements,
    walk,
)


def declared_values(function: Block, changed: Set[Symbol]) -> dict[Symbol, Expression]:
    """The pointers that are declared with a value that stays what it is."""
    found: dict[Symbol, Expression] = {}
    for each in all_statements(function.statements):
        if isinstance(each, Declare) and isinstance(each.symbol.type, PointerType):
            value = each.value
            if value is None or not is_fixed(value):
                continue
            used = {each.symbol, *names_in((value,))}
            # Others may assign what is global, or has an address.
            shared = any(one.has_address or one.is_global for one in used if not _is_array(one))
            if not shared and not names_in((value,)) & changed:
                found[each.symbol] = value
    return found


def _is_array(symbol: Symbol) -> bool:
    return isinstance(symbol.type, ArrayType)


def assignments(statements: Sequence[Statement], symbol: Symbol) -> int:
    """How often statements assign a variable."""
    found = (each for each in all_expressions(statements) if isinstance(each, Assignment))
    return sum(is_name(each.target, symbol) for each in found)


def is_fixed(node: Expression) -> bool:
    """Whether an expression reads no memory and has no effect."""
    return not any(
        isinstance(each, Assignment | Call)
        or (isinstance(each, Subscript) and not isinstance(each.type, ArrayType))
        for each in walk(node)
    )


def names_in(distance: Distance) -> set[Symbol]:
    """The variables that the expressions of a distance name."""
    return {each.symbol for each in uses(distance) if isinstance(each, Name)}
