"""Correspondence of generated statements to those of the program, and recognition of copies.

Transformations add statements and arrays: parts of a statement that was split, copies into and out
of buffers. Names and shared operations only suggest what a statement is; what it computes is
compared operation by operation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.ir import Operation, SSAValue

from ...passes.polyhedral.scop import Access, AccessKind, Scop, Statement
from .partial_results import Combination, Initialisation, combination, initialisation
from .verdict import NotKnownError


@dataclass(frozen=True, eq=False)
class Factor:
    """An operation on a copied value, its operand number `position`, and on scalar arguments."""

    operation: Operation
    position: int


@dataclass(frozen=True, eq=False)
class Copy:
    """A statement that copies an element, `target = source`, or a function of it and scalars.

    `factors` are the operations in between, each on the value of the one before.
    """

    statement: Statement
    source: Access
    target: Access
    factors: tuple[Factor, ...]


@dataclass(frozen=True, eq=False)
class Correspondence:
    """The statements of a generated program.

    `origins` has those that are statements of the program, or parts of them: they have the same
    induction variables, and their accesses are in the same order. `copies` has the copies,
    `initialisations` and `combinations` what begins and combines partial results.
    """

    origins: Mapping[str, Statement]
    copies: Mapping[str, Copy]
    initialisations: Mapping[str, Initialisation]
    combinations: Mapping[str, Combination]


def correspond(program: Scop, scop: Scop) -> Correspondence:
    """What the statements of `scop` are; raises NotKnownError where one is something else."""
    origins: dict[str, Statement] = {}
    copies: dict[str, Copy] = {}
    initialisations: dict[str, Initialisation] = {}
    combinations: dict[str, Combination] = {}
    for statement in scop.statements:
        name = statement.name
        if (origin := origin_of(program, statement)) is not None:
            origins[name] = origin
        elif (copy := _copy(program, statement)) is not None:
            copies[name] = copy
        elif (first := initialisation(statement)) is not None:
            initialisations[name] = first
        elif (last := combination(statement)) is not None:
            combinations[name] = last
        else:
            raise NotKnownError(f"{name} is no statement of the program, and no copy")
    scaled = _scaled(scop, copies)
    for name, origin in origins.items():
        if not is_same_computation(scop.statement(name), origin, scaled):
            raise NotKnownError(f"{name} does not compute what {origin.name} does")
    return Correspondence(origins, copies, initialisations, combinations)


def is_same_computation(
    statement: Statement, origin: Statement, scaled: Mapping[str, tuple[Factor, ...]] | None = None
) -> bool:
    """Whether a statement computes what another one does from its loads.

    `scaled` says what the elements of buffers have been multiplied by.
    """
    numbering = _Numbering()
    return numbering.stored(statement, scaled or {}) == numbering.stored(origin, {})


def _scaled(scop: Scop, copies: Mapping[str, Copy]) -> dict[str, tuple[Factor, ...]]:
    """What the elements of buffers are multiplied by: buffers that nothing else writes."""
    scaled: dict[str, tuple[Factor, ...]] = {}
    for copy in copies.values():
        if copy.factors:
            scaled.setdefault(copy.target.array.name, copy.factors)
    for statement in scop.statements:
        copy = copies.get(statement.name)
        for write in statement.writes:
            factors = scaled.get(write.array.name, ())
            if not _are_same(copy.factors if copy else (), factors):
                raise NotKnownError(f"{statement.name} writes to {write.array.name}, of products")
        if copy is not None and copy.source.array.name in scaled:
            raise NotKnownError(f"{statement.name} copies products")
    return scaled


def _are_same(ones: tuple[Factor, ...], others: tuple[Factor, ...]) -> bool:
    """Whether the same is done with a value, with the same scalars."""
    return [_scaling(one) for one in ones] == [_scaling(other) for other in others]


def _scaling(factor: Factor) -> object:
    operands = list(factor.operation.operands)
    scalars = operands[: factor.position] + operands[factor.position + 1 :]
    return factor.position, _kind(factor.operation), scalars


def origin_of(program: Scop, statement: Statement) -> Statement | None:
    """The statement of the program that shares a store with this one, or its name."""
    own = {write.op for write in statement.writes}
    shared = [s for s in program.statements if any(write.op in own for write in s.writes)]
    named = [
        s
        for s in program.statements
        if re.fullmatch(rf"{re.escape(s.name)}(_\d+)*", statement.name)
    ]
    kinds = [access.kind for access in statement.accesses]
    for origin in shared or sorted(named, key=lambda s: -len(s.name)):
        same = kinds == [access.kind for access in origin.accesses]
        if same and len(origin.loops) == len(statement.loops):
            return origin
    return None


def _copy(program: Scop, statement: Statement) -> Copy | None:
    kinds = [access.kind for access in statement.accesses]
    if kinds != [AccessKind.READ, AccessKind.WRITE]:
        return None
    source, target = statement.accesses
    if statement.body[0] is not source.op or statement.body[-1] is not target.op:
        return None
    value: SSAValue = source.op.results[0]
    factors: list[Factor] = []
    for operation in statement.body[1:-1]:
        places = [k for k, operand in enumerate(operation.operands) if operand is value]
        others = [operand for operand in operation.operands if operand is not value]
        scalars = all(operand in program.func.args for operand in others)
        if len(places) != 1 or len(operation.results) != 1 or not scalars:
            return None
        factors.append(Factor(operation, places[0]))
        value = operation.results[0]
    return (
        Copy(statement, source, target, tuple(factors)) if target.op.operands[0] is value else None
    )


class _Numbering:
    """Value numbering: values with one number are computed in the same way from the same loads.

    `extended` has what integers were extended from, and how: twice is the same as once.
    """

    def __init__(self) -> None:
        self.numbers: dict[object, int] = {}
        self.extended: dict[int, tuple[str, int]] = {}

    def stored(self, statement: Statement, scaled: Mapping[str, tuple[Factor, ...]]) -> list[int]:
        """The numbers of what the statement stores, in program order.

        Loads are numbered by their place among the accesses; `scaled` says what the elements of
        buffers have been multiplied by.
        """
        accesses = {access.op: k for k, access in enumerate(statement.accesses)}
        values: dict[SSAValue, int] = {
            value: self._of("index", expression) for value, expression in statement.indices.items()
        }
        stored: list[int] = []
        for operation in statement.body:
            place = accesses.get(operation)
            if isinstance(operation, func.CallOp):
                stored += [self._of(_kind(operation))]
                stored += [self._operand(values, operand) for operand in operation.operands]
            elif place is None:
                operands = [self._operand(values, operand) for operand in operation.operands]
                for result in operation.results:
                    values[result] = self._result(operation, operands, result.index)
            elif operation.results:
                number = self._of("load", place)
                for factor in scaled.get(statement.accesses[place].array.name, ()):
                    operands = [self._operand(values, o) for o in factor.operation.operands]
                    operands[factor.position] = number
                    number = self._result(factor.operation, operands, 0)
                values[operation.results[0]] = number
            else:
                stored.append(self._operand(values, operation.operands[0]))
        return stored

    def _of(self, *key: object) -> int:
        return self.numbers.setdefault(key, len(self.numbers))

    def _operand(self, values: Mapping[SSAValue, int], operand: SSAValue) -> int:
        return values[operand] if operand in values else self._of("argument", operand)

    def _result(self, operation: Operation, operands: Sequence[int], index: int) -> int:
        if operation.name in _EXTENSIONS and not operation.properties and not operation.attributes:
            how, source = operation.name, operands[0]
            first = self.extended.get(source)
            # What was extended by zeros is not negative.
            if first is not None and first[0] in (how, _EXTENSIONS[1]):
                how, source = first
            number = self._of(how, source, operation.result_types[0])
            self.extended[number] = how, source
            return number
        return self._of(_kind(operation), tuple(operands), index)


_EXTENSIONS = ("arith.extsi", "arith.extui")


def _kind(operation: Operation) -> object:
    """What the operation does with its operands."""
    return (
        operation.name,
        frozenset(operation.properties.items()),
        frozenset(operation.attributes.items()),
        tuple(operation.result_types),
    )
