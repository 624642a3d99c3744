"""Sums of products of integers with offsets: `s += (ext a - u) * (ext b - v)`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from ...dialects.arith import ExtSIOp, ExtUIOp
from .integer_ranges import integer_width
from .reductions import Accumulation
from .scop import Access, Statement


@dataclass(frozen=True)
class Factor:
    """A factor `whole`: a loaded and extended `value`, and an `offset`, None where there is none.

    The offset is added, or else subtracted.
    """

    value: SSAValue
    whole: SSAValue
    offset: SSAValue | None = None
    is_added: bool = False


@dataclass(frozen=True)
class OffsetProduct:
    """What a statement adds to `store`: the product of two factors, of which one has an offset."""

    load: Access
    store: Access
    factors: tuple[Factor, Factor]


def offset_product(statement: Statement, accumulation: Accumulation | None) -> OffsetProduct | None:
    """The product that a statement adds up, if it is one of factors with offsets."""
    if (
        statement.is_opaque
        or accumulation is None
        or accumulation.operation != "addi"
        or len(accumulation.steps) != 1
    ):
        return None
    (step,) = accumulation.steps
    terms = [each for each in step.operands if each is not accumulation.load.op.results[0]]
    if len(terms) != 1 or not isinstance(terms[0].owner, arith.MuliOp):
        return None
    left, right = (_factor(statement, each) for each in terms[0].owner.operands)
    if left is None or right is None or left.offset is right.offset is None:
        return None
    return OffsetProduct(accumulation.load, accumulation.store, (left, right))


def _factor(statement: Statement, whole: SSAValue) -> Factor | None:
    """A factor that is a short integer, or has one."""
    if _is_extended(statement, whole):
        return Factor(whole, whole)
    op = whole.owner
    if not isinstance(op, arith.SubiOp | arith.AddiOp) or op not in statement.body:
        return None
    is_added = isinstance(op, arith.AddiOp)
    ends = [(op.lhs, op.rhs), (op.rhs, op.lhs)] if is_added else [(op.lhs, op.rhs)]
    for value, offset in ends:
        if _is_extended(statement, value):
            return Factor(value, whole, offset, is_added)
    return None


def _is_extended(statement: Statement, value: SSAValue) -> bool:
    """Whether a value is what is loaded from an array of shorter integers."""
    op = value.owner
    return isinstance(op, ExtSIOp | ExtUIOp) and any(
        op.operands[0] is read.op.results[0] for read in statement.reads
    )


def needed(statement: Statement, values: Collection[SSAValue]) -> Iterator[Operation]:
    """The operations of a statement that compute some values, in their order."""
    wanted = set(values)
    found: list[Operation] = []
    for op in reversed(statement.body):
        if not wanted.isdisjoint(op.results):
            found.append(op)
            wanted.update(op.operands)
    return reversed(found)


def is_short(factor: Factor, bits: int) -> bool:
    """Whether so many bits with a sign hold what a factor loads."""
    op = factor.value.owner
    assert isinstance(op, ExtSIOp | ExtUIOp)
    width = integer_width(op.operands[0].type)
    return width is not None and width <= bits - isinstance(op, ExtUIOp)
