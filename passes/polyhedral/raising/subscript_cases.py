"""Cases of subscripts: what minima, selections, and divisions by sizes depend on.

`x > 0 ? x - 1 : 0` has a case for `x > 0` and one for all others; `(i + 1) mod n` has one for each
quotient, of which there are two where 0 <= i < n.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import islpy as isl
from xdsl.dialects import arith, func, scf
from xdsl.dialects.affine import ParallelOp
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineConstraintKind, AffineExpr, AffineMap
from xdsl.utils.hints import isa

from ....dialects.affine import ForOp, IfOp
from ..affine_text import to_text
from ..identifiers import dimension_names
from ..integer_ranges import constant_of
from .affine_values import AffineValues, NotAffineError
from .cells import insert_before

Outcomes = Mapping[Hashable, int]
"""What has been decided: truth values, whether the first operand is chosen, quotients."""


class UndecidedError(Exception):
    """A subscript has parts whose cases are not known."""


class Condition(NamedTuple):
    """`form`, of affine values as its symbols, is at least 0, or equal to it."""

    operands: tuple[SSAValue, ...]
    form: AffineExpr
    kind: AffineConstraintKind = AffineConstraintKind.ge


class Decision(NamedTuple):
    """A part of a subscript with two outcomes: the first where a condition holds."""

    key: Hashable
    condition: Condition
    outcomes: tuple[int, int]


@dataclass(frozen=True)
class Region:
    """The iterations that reach an operation, or more, by conditions in isl's syntax."""

    values: AffineValues
    names: tuple[str, ...]
    conditions: tuple[str, ...] = ()

    @classmethod
    def around(cls, values: AffineValues, block: Block) -> Region:
        """The iterations of the loops around a block, or more where bounds are not affine."""
        dimensions = [each for loop in list(_loops_around(block))[::-1] for each in _bounded(loop)]
        names = tuple(dimension_names(len(dimensions)))
        for depth, (index, *_) in enumerate(dimensions):
            values.bind(index, depth)
        conditions: list[str] = []
        for name, (_, least, beyond) in zip(names, dimensions, strict=True):
            for limits, sign in ((least, "<="), (beyond, ">")):
                with suppress(NotAffineError):
                    texts = [values.text(each, names) for each in limits(values)]
                    conditions += [f"{each} {sign} {name}" for each in texts]
        return cls(values, names, tuple(conditions))

    def where(self, condition: Condition, *, holds: bool = True) -> Region:
        """Those iterations in which a condition holds, or does not; raises UndecidedError."""
        texts = [self._text(each) for each in condition.operands]
        text = to_text(condition.form, [], texts)
        if condition.kind is AffineConstraintKind.eq:
            added = f"{text} = 0" if holds else f"({text} < 0 or {text} > 0)"
        else:
            added = f"{text} >= 0" if holds else f"{text} < 0"
        return replace(self, conditions=(*self.conditions, added))

    def _text(self, value: SSAValue) -> str:
        try:
            return self.values.text(self.values.expression(value, piecewise=True), self.names)
        except NotAffineError as error:
            raise UndecidedError(str(error)) from error

    def always(self, condition: Condition) -> bool:
        """Whether a condition holds in all iterations; raises UndecidedError."""
        return self.where(condition, holds=False).is_empty()

    def is_empty(self) -> bool:
        """Whether there are no such iterations."""
        parameters = ", ".join(each.name for each in self.values.parameters)
        domain = f"[{', '.join(self.names)}] : {' and '.join(self.conditions) or '1 = 1'}"
        return isl.Set(f"[{parameters}] -> {{ {domain} }}").is_empty()


_Loop = ForOp | ParallelOp | scf.ForOp | scf.ParallelOp
_Limits = Callable[[AffineValues], Iterable[AffineExpr]]


def _loops_around(block: Block) -> Iterator[_Loop]:
    around = block.parent_op()
    while around is not None and not isinstance(around, func.FuncOp):
        if isinstance(around, _Loop):
            yield around
        around = around.parent_op()


def _bounded(loop: _Loop) -> Iterator[tuple[SSAValue, _Limits, _Limits]]:
    """Induction variables, with what they are at least, and what they stay below."""

    def one(value: SSAValue) -> _Limits:
        return lambda values: [values.expression(value, piecewise=True)]

    def all_of(map_: AffineMap, operands: Sequence[SSAValue]) -> _Limits:
        return lambda values: values.map(map_, operands, piecewise=True)

    match loop:
        case ForOp():
            lower = all_of(loop.lowerBoundMap.data, loop.lowerBoundOperands)
            upper = all_of(loop.upperBoundMap.data, loop.upperBoundOperands)
            yield loop.body.block.args[0], lower, upper
        case scf.ForOp():
            yield loop.body.block.args[0], one(loop.lb), one(loop.ub)
        case scf.ParallelOp():
            ends = zip(loop.lowerBound, loop.upperBound, strict=True)
            for index, (least, beyond) in zip(loop.body.block.args, ends, strict=True):
                yield index, one(least), one(beyond)
        case ParallelOp():
            # Bounds of several induction variables are in one map: more iterations do no harm.
            for index in loop.body.block.args:
                yield index, lambda _: (), lambda _: ()


_EXTREMA = arith.MinSIOp | arith.MaxSIOp
_CASTS = ("arith.extsi", "arith.index_cast")
_PLAIN = ("arith.addi", "arith.constant", "arith.muli", "arith.subi", "memref.dim", *_CASTS)
_QUOTIENTS = ("arith.divsi", "arith.divui", "arith.floordivsi")
_REMAINDERS = ("arith.remsi", "arith.remui")
_TRUTHS = ("arith.andi", "arith.ori")

_LEFT, _RIGHT = AffineExpr.symbol(0), AffineExpr.symbol(1)

_EQUAL = {0: 1, 1: 0}
"""By the number of a comparison, what it gives for equal numbers."""

_SIGNED = {
    2: _RIGHT - _LEFT - 1,
    3: _RIGHT - _LEFT,
    4: _LEFT - _RIGHT - 1,
    5: _LEFT - _RIGHT,
}
"""By the number of a comparison: what is at least 0 where it is true."""


class SubscriptCases:
    """The cases of subscripts in front of one operation, where new operations go."""

    def __init__(self, anchor: Operation) -> None:
        self.anchor = anchor
        self._keys: dict[SSAValue, Hashable] = {}

    def pending(self, value: SSAValue, known: Outcomes, region: Region) -> Decision | None:
        """What is to be decided next for a value; raises UndecidedError."""
        owner = value.owner
        if not isinstance(owner, Operation):
            return None
        if isinstance(owner, arith.SelectOp):
            truth = self._truth(owner.cond, known, region)
            if isinstance(truth, Decision):
                return truth
            return self.pending(owner.lhs if truth else owner.rhs, known, region)
        if isinstance(owner, IfOp):
            truth = self._holds(owner, known, region)
            if isinstance(truth, Decision):
                return truth
            return self.pending(_yielded(owner, value, truth), known, region)
        is_extremum = isinstance(owner, _EXTREMA)
        is_division = _is_division(owner)
        if not (is_extremum or is_division or owner.name in (*_PLAIN, "affine.apply")):
            raise UndecidedError(f"it is computed by {owner.name}")
        for operand in owner.operands:
            if isinstance(operand.type, IndexType | IntegerType):
                found = self.pending(operand, known, region)
                if found is not None:
                    return found
        key = self.key(value)
        if key in known or not (is_extremum or is_division):
            return None
        operands = tuple(self.resolved(each, known) for each in owner.operands)
        if is_division:
            return _division(key, owner, operands, region)
        form = _RIGHT - _LEFT if isinstance(owner, arith.MinSIOp) else _LEFT - _RIGHT
        return Decision(key, Condition(operands, form), (1, 0))

    def _truth(self, value: SSAValue, known: Outcomes, region: Region) -> Decision | bool:
        """A condition of indices, as far as it is known."""
        owner = value.owner
        constant = constant_of(value)
        if constant is not None:
            return bool(constant)
        if isinstance(owner, Operation) and owner.name in _TRUTHS:
            first = self._truth(owner.operands[0], known, region)
            if isinstance(first, Decision) or first == (owner.name == "arith.ori"):
                return first
            return self._truth(owner.operands[1], known, region)
        if not isinstance(owner, arith.CmpiOp):
            raise UndecidedError("a condition is no comparison of indices")
        for operand in owner.operands:
            found = self.pending(operand, known, region)
            if found is not None:
                return found
        key = self.key(value)
        if key in known:
            return bool(known[key])
        operands = tuple(self.resolved(each, known) for each in owner.operands)
        predicate = owner.predicate.value.data
        if predicate in _EQUAL:
            condition = Condition(operands, _RIGHT - _LEFT, AffineConstraintKind.eq)
            return Decision(key, condition, (_EQUAL[predicate], 1 - _EQUAL[predicate]))
        if predicate not in _SIGNED:
            raise UndecidedError("a comparison is one without signs")
        return Decision(key, Condition(operands, _SIGNED[predicate]), (1, 0))

    def _holds(self, branch: IfOp, known: Outcomes, region: Region) -> Decision | bool:
        """Whether the conditions of an affine.if hold, as far as it is known."""
        for operand in branch.operands:
            found = self.pending(operand, known, region)
            if found is not None:
                return found
        set_ = branch.condition.data
        for number, constraint in enumerate(set_.constraints):
            key = branch, number
            if key in known and not known[key]:
                return False
            if key not in known:
                operands = tuple(self.resolved(each, known) for each in branch.operands)
                own = [AffineExpr.symbol(k) for k in range(len(operands))]
                form = constraint.lhs - constraint.rhs
                if constraint.kind is AffineConstraintKind.le:
                    form = constraint.rhs - constraint.lhs
                form = form.replace_dims_and_symbols(own[: set_.num_dims], own[set_.num_dims :])
                is_equal = constraint.kind is AffineConstraintKind.eq
                kind = constraint.kind if is_equal else AffineConstraintKind.ge
                return Decision(key, Condition(operands, form, kind), (1, 0))
        return True

    def resolved(self, value: SSAValue, known: Outcomes) -> SSAValue:
        """A value with what has been decided, computed in front of the anchor."""
        owner = value.owner
        if isinstance(value, BlockArgument):
            return value
        assert isinstance(owner, Operation)
        if isinstance(owner, arith.SelectOp):
            truth = self._decided(owner.cond, known)
            return self.resolved(owner.lhs if truth else owner.rhs, known)
        if isinstance(owner, IfOp):
            truth = all(known[owner, k] for k in range(len(owner.condition.data.constraints)))
            return self.resolved(_yielded(owner, value, truth), known)
        key = self.key(value)
        if isinstance(owner, _EXTREMA):
            return self.resolved(owner.lhs if known[key] else owner.rhs, known)
        operands = [self.resolved(each, known) for each in owner.operands]
        if _is_division(owner):
            return self._divided(owner, operands, known[key])
        copy = owner.clone(dict(zip(owner.operands, operands, strict=True)))
        return self._insert(copy)

    def _decided(self, value: SSAValue, known: Outcomes) -> bool:
        owner = value.owner
        constant = constant_of(value)
        if constant is not None:
            return bool(constant)
        assert isinstance(owner, Operation)
        if owner.name in _TRUTHS:
            first = self._decided(owner.operands[0], known)
            is_known = first == (owner.name == "arith.ori")
            return first if is_known else self._decided(owner.operands[1], known)
        return bool(known[self.key(value)])

    def _divided(self, owner: Operation, operands: Sequence[SSAValue], quotient: int) -> SSAValue:
        """A quotient, or the remainder that it leaves."""
        value, divisor = operands
        if owner.name in _QUOTIENTS:
            kind = value.type
            assert isa(kind, IntegerType) or isinstance(kind, IndexType)
            return self._insert(arith.ConstantOp(IntegerAttr(quotient, kind)))
        if not quotient:
            return value
        operation = arith.SubiOp if quotient > 0 else arith.AddiOp
        return self._insert(operation(value, divisor))

    def _insert(self, operation: Operation) -> SSAValue:
        insert_before(self.anchor, operation)
        return operation.results[0]

    def key(self, value: SSAValue) -> Hashable:
        """Equal for values that are computed alike."""
        owner = value.owner
        if not isinstance(owner, Operation) or isinstance(owner, IfOp):
            return value
        if value not in self._keys:
            properties = tuple(sorted((n, str(p)) for n, p in owner.properties.items()))
            operands = tuple(self.key(each) for each in owner.operands)
            self._keys[value] = (owner.name, properties, operands)
        return self._keys[value]


def has_cases(value: SSAValue) -> bool:
    """Whether a subscript is made of selections, minima or divisions by sizes, among others."""
    pending, seen = [value], set[SSAValue]()
    while pending:
        current = pending.pop()
        owner = current.owner
        if current in seen or not isinstance(owner, Operation):
            continue
        seen.add(current)
        if isinstance(owner, IfOp | arith.SelectOp | _EXTREMA) or _is_division(owner):
            return True
        if owner.name in (*_PLAIN, "affine.apply"):
            pending += owner.operands
    return False


def _yielded(branch: IfOp, value: SSAValue, truth: bool) -> SSAValue:
    """What a branch gives for one of its results."""
    end = branch.regions[0 if truth else 1].block.last_op
    assert end is not None
    return end.operands[[each is value for each in branch.results].index(True)]


def _is_division(owner: Operation) -> bool:
    """Whether it is one by a size: those by constants are affine."""
    return owner.name in (*_QUOTIENTS, *_REMAINDERS) and constant_of(owner.operands[1]) is None


def _division(
    key: Hashable, owner: Operation, operands: tuple[SSAValue, ...], region: Region
) -> Decision:
    """The quotient of a division by a positive size, where there are at most two.

    Raises UndecidedError.
    """

    def always(*forms: AffineExpr) -> bool:
        return all(region.always(Condition(operands, form)) for form in forms)

    value, size = _LEFT, _RIGHT
    if always(size - 1):
        if always(value, 2 * size - value - 1):
            return Decision(key, Condition(operands, size - value - 1), (0, 1))
        if owner.name == "arith.floordivsi" and always(value + size, size - value - 1):
            return Decision(key, Condition(operands, value), (0, -1))
        if owner.name in _TOWARDS_ZERO and always(value + 2 * size - 1, size - value - 1):
            return Decision(key, Condition(operands, value + size - 1), (0, -1))
    raise UndecidedError("a quotient may have more than two values")


_TOWARDS_ZERO = ("arith.divsi", "arith.remsi")
