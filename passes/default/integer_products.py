"""Contractions of short integers, whose products are added in pairs: the term that makes pairs."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation

from ...dialects.arith import ExtSIOp
from ..machine.target import Target
from ..polyhedral.scop import Access, Statement
from ..polyhedral.widened_loads import widened_load

PAIR = 2
"""Products that one operation adds."""

FACTOR_BITS = 16
"""With a sign, in which both factors are packed."""

_SUM_BITS = 32


def paired_term(
    statement: Statement,
    factors: tuple[Access, ...],
    terms: Mapping[str, int],
    extents: Mapping[str, int],
    target: Target,
) -> str | None:
    """The innermost loop of a sum along which its products are added in pairs, if they can be.

    `factors` are what the statement reads besides the sum; `terms` has the positions of the loops
    of the sum among its iterators, in their order.
    """
    if not target.adds_products_in_pairs or len(factors) != PAIR or not adds_integers(statement):
        return None
    extensions = [op for factor in factors if (op := _extension(statement, factor)) is not None]
    values = [op.results[0] for op in extensions]
    products = [
        op
        for op in statement.body
        if isinstance(op, arith.MuliOp)
        and len(values) == PAIR
        and all(value in op.operands for value in values)
    ]
    if len(products) != 1 or len(statement.body) != len(factors) * 2 + 4:
        return None
    along = [
        name
        for name, position in terms.items()
        if extents[name] % PAIR == 0 and all(_subscript(f, position) is not None for f in factors)
    ]
    return along[-1] if along else None


def adds_integers(statement: Statement) -> bool:
    """Whether a statement stores integers of the bits to which pairs of products are added."""
    return any(write.array.element_type == IntegerType(_SUM_BITS) for write in statement.writes)


def _extension(statement: Statement, factor: Access) -> Operation | None:
    """The one extension of a factor to the bits of the sum, from at most 16 signed ones."""
    value = factor.op.results[0]
    users = [op for op in statement.body if value in op.operands]
    if len(users) != 1:
        return None
    if factor.array.element_type == IntegerType(FACTOR_BITS):
        return users[0] if isinstance(users[0], ExtSIOp) else None
    return users[0] if widened_load(statement, factor) is not None else None


def _subscript(access: Access, position: int) -> int | None:
    """The only subscript that an iterator moves, if it does by 1."""
    moved = [k for k, row in enumerate(access.coefficients) if row[position]]
    return moved[0] if len(moved) == 1 and access.coefficients[moved[0]][position] == 1 else None


def paired_subscript(access: Access, position: int) -> int:
    """The subscript of an operand that the loop of pairs moves."""
    found = _subscript(access, position)
    assert found is not None, "pairs are along single subscripts"
    return found
