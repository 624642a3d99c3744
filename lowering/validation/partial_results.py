"""Privatised reductions: buffers of partial results, initialised and combined later.

    P[...] = neutral;  ... P[...] = P[...] + x ...;  A[...] = A[...] + P[...]

A step of the reduction then changes the array when its partial result is combined with it. So the
combination stands for the step: it must keep the order of the step with all other accesses to the
element, where steps have none among each other (`Accumulation.reassociable`, or fast math).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import islpy as isl
from xdsl.dialects.arith import ConstantOp, SelectOp
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, IntegerType
from xdsl.ir import Operation

from ...passes.polyhedral.reductions import find_accumulation
from ...passes.polyhedral.scop import Access, AccessKind, Statement
from .order import Event, backward
from .verdict import NotKnownError, Property, ViolatedError, Witness

_NEUTRAL_FLOATS = {
    "addf": -0.0,
    "mulf": 1.0,
    "maximumf": -math.inf,
    "maxnumf": math.nan,
    "minimumf": math.inf,
    "minnumf": math.nan,
    "cmpmaxf": -math.inf,
    "cmpminf": math.inf,
}

_NEUTRAL_INTEGERS: Mapping[str, Callable[[int], int]] = {
    "addi": lambda _: 0,
    "muli": lambda _: 1,
    "ori": lambda _: 0,
    "xori": lambda _: 0,
    "andi": lambda _: -1,
    "maxsi": lambda width: -(1 << (width - 1)),
    "minsi": lambda width: (1 << (width - 1)) - 1,
    "maxui": lambda _: 0,
    "minui": lambda _: -1,
}


@dataclass(frozen=True, eq=False)
class Initialisation:
    """A statement that stores a constant in a partial result."""

    statement: Statement
    target: Access
    value: Operation


@dataclass(frozen=True, eq=False)
class Combination:
    """A statement that combines an element with a partial result: `whole = whole op part`."""

    statement: Statement
    whole: Access
    part: Access
    operation: str


def initialisation(statement: Statement) -> Initialisation | None:
    """How a statement begins partial results, if it does."""
    if [access.kind for access in statement.accesses] != [AccessKind.WRITE]:
        return None
    (target,) = statement.accesses
    value = target.op.operands[0].owner
    if not isinstance(value, ConstantOp) or statement.body != (value, target.op):
        return None
    return Initialisation(statement, target, value)


def combination(statement: Statement) -> Combination | None:
    """How a statement combines partial results, if it does."""
    accumulation = find_accumulation(statement)
    parts = [read for read in statement.reads if accumulation and read is not accumulation.load]
    if accumulation is None or len(parts) != 1 or len(accumulation.steps) != 1:
        return None
    (step,) = accumulation.steps
    operation = accumulation.operation
    operands = {accumulation.load.op.results[0], parts[0].op.results[0]}
    combines = isinstance(step, SelectOp) or step.name == f"arith.{operation}"
    if not combines or set(step.operands[-2:]) != operands:
        return None
    return Combination(statement, accumulation.store, parts[0], operation)


def is_neutral(value: Operation, operation: str) -> bool:
    """Whether a constant changes nothing when it is combined."""
    constant = value.properties.get("value")
    match constant:
        case FloatAttr(value=number):
            expected = _NEUTRAL_FLOATS.get(operation)
            return expected is not None and str(number.data) == str(expected)
        case IntegerAttr(value=number, type=IntegerType() | IndexType() as kind):
            width = 64 if isinstance(kind, IndexType) else kind.width.data
            of_width = _NEUTRAL_INTEGERS.get(operation)
            if of_width is None:
                return False
            return (number.data - of_width(width)) % (1 << width) == 0
        case _:
            return False


@dataclass(frozen=True, eq=False)
class Accessor:
    """An access to a partial result: which one, `{ S0[i] -> P[p] }`, and when."""

    statement: str
    place: isl.Map
    events: tuple[Event, ...]


@dataclass(frozen=True, eq=False)
class PartialResults:
    """A buffer of partial results, and all its accesses.

    `operations` are those of the steps and combinations, `neutral` what it begins with.
    """

    name: str
    operations: frozenset[str]
    neutral: tuple[Operation, ...]
    initialisations: tuple[Accessor, ...]
    updates: tuple[Accessor, ...]
    combinations: tuple[Accessor, ...]

    def check(self) -> None:
        """Partial results begin as neutral elements, and are combined once all steps are done.

        Raises ViolatedError, NotKnownError.
        """
        if len(self.operations) != 1:
            raise NotKnownError(f"{self.name} has partial results of several operations")
        (operation,) = self.operations
        for value in self.neutral:
            if not is_neutral(value, operation):
                message = f"{self.name} does not begin with the neutral element of {operation}"
                raise ViolatedError(Property.DATAFLOW, message)
        for group in (self.initialisations, self.combinations):
            for number, one in enumerate(group):
                others = (other.place.range() for other in group[:number])
                apart = all(one.place.range().is_disjoint(other) for other in others)
                if not apart or not one.place.is_injective():
                    raise NotKnownError(f"{one.statement} uses a partial result more than once")
        for user in (*self.updates, *self.combinations):
            self._check_covered(user, self.initialisations, "begun")
            for first in self.initialisations:
                _check_order(first, user)
        for update in self.updates:
            self._check_covered(update, self.combinations, "combined")
            for last in self.combinations:
                _check_order(update, last)

    def _check_covered(self, user: Accessor, others: Sequence[Accessor], what: str) -> None:
        rest = reduce(isl.Map.subtract_range, (o.place.range() for o in others), user.place)
        if not rest.is_empty():
            message = f"{user.statement} uses an element of {self.name} that is never {what}"
            raise ViolatedError(Property.DATAFLOW, message, Witness.among(rest.domain()))


def _check_order(source: Accessor, target: Accessor) -> None:
    pairs = source.place.apply_range(target.place.reverse())
    wrong = backward(pairs, source.events, target.events)
    if wrong is not None:
        message = f"{source.statement} does not run before {target.statement}"
        raise ViolatedError(Property.DATAFLOW, message, Witness.between(wrong))
