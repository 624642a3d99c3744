"""What statements compute, as terms over loads, scalar arguments and affine values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from ..scop import Access, Statement

COMMUTATIVE = frozenset(
    f"arith.{name}"
    for name in (
        *("addf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf"),
        *("addi", "muli", "andi", "ori", "xori", "maxsi", "maxui", "minsi", "minui"),
    )
)
"""Operations whose two operands may change places."""


@dataclass(frozen=True, eq=False)
class Load:
    """The value of a load: what the last write before left there."""

    statement: Statement
    access: Access


@dataclass(frozen=True, eq=False)
class Apply:
    """An operation on terms, or a constant; equal kinds do the same with their operands."""

    statement: Statement
    kind: object
    operands: tuple[Term, ...]
    name: str
    type: Attribute
    properties: frozenset[tuple[str, Attribute]]

    @property
    def commutes(self) -> bool:
        """Whether the two operands may change places."""
        return self.name in COMMUTATIVE and len(self.operands) == 2


@dataclass(frozen=True, eq=False)
class Affine:
    """An integer of type index that is affine in induction variables and parameters."""

    statement: Statement
    expression: AffineExpr


@dataclass(frozen=True, eq=False)
class Scalar:
    """A scalar argument of the function, by position."""

    statement: Statement
    argument: int


@dataclass(frozen=True)
class Input:
    """What an element of an array argument holds at first."""

    argument: int


@dataclass(frozen=True)
class Undefined:
    """What a local array holds before it is written."""

    array: str


Term = Load | Apply | Affine | Scalar | Input | Undefined


def kind_of(operation: Operation) -> object:
    """What an operation does with its operands: equal for operations that do the same."""
    return (
        operation.name,
        frozenset(operation.properties.items()),
        tuple(operation.result_types),
    )


def stored_terms(statement: Statement) -> dict[Access, Term]:
    """What a statement writes, store by store."""
    accesses = {access.op: access for access in statement.accesses}
    values: dict[SSAValue, Term] = {
        value: Affine(statement, expression) for value, expression in statement.indices.items()
    }
    stored: dict[Access, Term] = {}
    for operation in statement.body:
        access = accesses.get(operation)
        if access is None:
            _compute(statement, operation, values)
        elif operation.results:
            values[operation.results[0]] = Load(statement, access)
        else:
            stored[access] = _term(statement, operation.operands[0], values)
    return stored


def _compute(statement: Statement, operation: Operation, values: dict[SSAValue, Term]) -> None:
    operands = tuple(_term(statement, operand, values) for operand in operation.operands)
    kind = kind_of(operation)
    for result in operation.results:
        if result not in values:
            values[result] = Apply(
                statement,
                (kind, result.index),
                operands,
                operation.name,
                result.type,
                frozenset(operation.properties.items()),
            )


def _term(statement: Statement, value: SSAValue, values: Mapping[SSAValue, Term]) -> Term:
    if value in values:
        return values[value]
    if isinstance(value, BlockArgument):
        return Scalar(statement, value.index)
    constant = constant_index(value)
    assert constant is not None, "operands are computed in the statement"
    return Affine(statement, AffineExpr.constant(constant))


def constant_index(value: SSAValue) -> int | None:
    """The value of an integer constant, if it is one."""
    match value.owner:
        case arith.ConstantOp(value=IntegerAttr(value=constant)):
            return constant.data
        case _:
            return None


def loads(term: Term) -> Iterator[Load]:
    """The loads of a statement that a term is computed from, in order."""
    match term:
        case Load():
            yield term
        case Apply(operands=operands):
            for operand in operands:
                yield from loads(operand)
        case _:
            pass


def describe(term: Term) -> str:
    """What a term is, in a few words."""
    match term:
        case Load(statement, access):
            return f"a load of {access.array.name} in {statement.name}"
        case Apply(statement=statement, name=name):
            return f"{name} in {statement.name}"
        case Affine(statement, expression):
            return f"the index {expression} in {statement.name}"
        case Scalar(_, argument):
            return f"scalar argument {argument}"
        case Input(argument):
            return f"what argument {argument} holds at first"
        case Undefined(array):
            return f"{array} before it is written"
