"""Addresses of loads and stores of the loop IR, and whether two of them can overlap, with isl.

Independent of the alias analysis of the passes. What constants, `affine.apply` and loops do not say
of an index is not known of it. Accesses may overlap in one iteration of the loops around both, and
in any two iterations of the loops around one of them alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import prod

import islpy as isl
from xdsl.dialects import affine as xdsl_affine
from xdsl.dialects import arith
from xdsl.dialects import vector as xdsl_vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    IntegerAttr,
    VectorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstraintKind
from xdsl.utils.hints import isa

from ....dialects import affine, vector
from ....dialects.arith import constant_lanes
from ....dialects.memref import is_memref
from ...nest.index_expression import (
    Comparison,
    Connective,
    Index,
    decide,
    linear_form,
    maximum,
    minimum,
)
from ...nest.index_relations import IndexSpace
from ..verdict import NotKnownError
from .values import is_gather


@dataclass(frozen=True)
class Address:
    """The elements that a load or store accesses: `width` in a row, or at `offsets` from the first.

    Of these, the ones that `mask` selects. Equal addresses are the same elements at the same values
    of all variables.
    """

    memref: SSAValue
    subscripts: tuple[Index, ...]
    width: int
    offsets: tuple[int, ...] | None = None
    mask: SSAValue | None = None

    def at(self, number: int, value: Index) -> Address:
        """The address at another value of a variable."""
        values = {number: value}
        return replace(self, subscripts=tuple(each.substitute(values) for each in self.subscripts))

    def depends_on(self, number: int) -> bool:
        """Whether the variable occurs."""
        return any(subscript.depends_on(number) for subscript in self.subscripts)

    def __str__(self) -> str:
        return self.memref.name_hint or "an array"


@dataclass(frozen=True)
class Placed:
    """An address, and the conditions under which it is accessed."""

    address: Address
    conditions: tuple[Comparison, ...]


class Numbers:
    """Numbers of values, and of blocks: one that is the body of a loop with a step counts these."""

    def __init__(self) -> None:
        self.values: list[object] = []
        self._numbers: dict[object, int] = {}

    def number(self, value: object) -> int:
        """The number of a value, perhaps a new one."""
        if value not in self._numbers:
            self._numbers[value] = len(self.values)
            self.values.append(value)
        return self._numbers[value]


class Addresses:
    """Addresses and conditions of a function, over the values that `resolve` gives for its own."""

    def __init__(self, numbers: Numbers, resolve: Callable[[SSAValue], SSAValue]) -> None:
        self.numbers = numbers
        self.resolve = resolve
        self.known: dict[Block, tuple[Comparison, ...]] = {}

    def index(self, value: SSAValue) -> Index:
        """A value as a sum over values that are not computed by constants and affine maps."""
        owner = value.owner
        match owner:
            case arith.ConstantOp(value=IntegerAttr(value=constant)):
                return Index(constant.data)
            case xdsl_affine.ApplyOp():
                return self.results(owner.map, owner.mapOperands)[0]
            case xdsl_affine.MinOp() | affine.MinOp():
                return minimum(self._results(owner))
            case affine.MaxOp():
                return maximum(self._results(owner))
            case _:
                return Index.variable(self.number(self.resolve(value)))

    def number(self, value: object) -> int:
        """The number of a value, perhaps a new one."""
        return self.numbers.number(value)

    def value(self, number: int) -> object:
        """The value of a number."""
        return self.numbers.values[number]

    def results(self, attribute: AffineMapAttr, operands: Sequence[SSAValue]) -> list[Index]:
        """The results of an affine map."""
        map_ = attribute.data
        values = {position: self.index(operand) for position, operand in enumerate(operands)}
        return [linear_form(e, map_.num_dims).substitute(values) for e in map_.results]

    def _results(self, operation: Operation) -> list[Index]:
        attribute = operation.properties["map"]
        assert isinstance(attribute, AffineMapAttr)
        return self.results(attribute, operation.operands)

    def address(self, operation: Operation) -> Address | None:
        """What a load or store accesses; None for other operations."""
        match operation:
            case xdsl_affine.LoadOp() | affine.VectorLoadOp():
                return self._row(operation, operation.operands, operation.results[0].type)
            case xdsl_affine.StoreOp() | affine.VectorStoreOp():
                return self._row(operation, operation.operands[1:], operation.operands[0].type)
            case xdsl_vector.MaskedLoadOp() | xdsl_vector.MaskedStoreOp():
                kind = operation.mask.type
                return self._at(operation.base, operation.indices, kind, operation.mask)
            case vector.GatherOp() if is_gather(operation):
                return None
            case vector.GatherOp() | vector.ScatterOp():
                lanes = constant_lanes(operation.index_vec)
                if lanes is None:
                    raise NotKnownError("a gather at places that are not constant")
                mask = constant_lanes(operation.mask)
                is_whole = mask is not None and all(mask)
                found = self._at(
                    operation.base,
                    operation.indices,
                    operation.mask.type,
                    None if is_whole else operation.mask,
                )
                return replace(found, offsets=lanes)
            case _:
                return None

    def _row(self, operation: Operation, operands: Sequence[SSAValue], kind: Attribute) -> Address:
        attribute = operation.properties["map"]
        assert isinstance(attribute, AffineMapAttr)
        subscripts = self.results(attribute, operands[1:])
        return Address(self.resolve(operands[0]), tuple(subscripts), _width(kind))

    def _at(
        self, base: SSAValue, indices: Iterable[SSAValue], kind: Attribute, mask: SSAValue | None
    ) -> Address:
        subscripts = tuple(self.index(value) for value in indices)
        mask = None if mask is None else self.resolve(mask)
        return Address(self.resolve(base), subscripts, _width(kind), None, mask)

    def conditions(self, block: Block | None) -> tuple[Comparison, ...]:
        """What the loops and conditions around a block say."""
        parent = None if block is None else block.parent_op()
        if block is None or parent is None:
            return ()
        if block not in self.known:
            outer = self.conditions(parent.parent)
            self.known[block] = (*self._conditions(parent, block), *outer)
        return self.known[block]

    def _conditions(self, parent: Operation, block: Block) -> Iterator[Comparison]:
        """What the operation directly around a block says."""
        match parent:
            case xdsl_affine.ForOp():
                lower = self.results(parent.lowerBoundMap, parent.lowerBoundOperands)
                upper = self.results(parent.upperBoundMap, parent.upperBoundOperands)
                yield from self._between(block.args[0], lower, upper)
                step = parent.step.value.data
                if step != 1 and len(lower) == 1:
                    count = Index.variable(self.number(block))
                    value = self.index(block.args[0])
                    yield Comparison("==", value - lower[0] - count * step)
            case affine.ParallelOp():
                yield from self._parallel(parent, block)
            case xdsl_affine.IfOp() if block is parent.then_region.block:
                yield from self.condition(parent)
            case _:
                pass

    def condition(self, branch: xdsl_affine.IfOp) -> Iterator[Comparison]:
        """The comparisons of an affine.if."""
        condition = branch.condition.data
        values = {position: self.index(operand) for position, operand in enumerate(branch.args)}
        for constraint in condition.constraints:
            left, right = (
                linear_form(side, condition.num_dims).substitute(values)
                for side in (constraint.lhs, constraint.rhs)
            )
            if constraint.kind is AffineConstraintKind.eq:
                yield Comparison("==", left - right)
            else:
                is_less = constraint.kind is AffineConstraintKind.le
                yield Comparison(">=", right - left if is_less else left - right)

    def _between(
        self, value: SSAValue, lower: Iterable[Index], upper: Iterable[Index]
    ) -> Iterator[Comparison]:
        variable = self.index(value)
        for bound in lower:
            yield Comparison(">=", variable - bound)
        for bound in upper:
            yield Comparison(">=", bound - variable - 1)

    def _parallel(self, loop: affine.ParallelOp, block: Block) -> Iterator[Comparison]:
        sides = [
            _grouped(self.results(map_, operands), groups.get_values())
            for map_, operands, groups in (
                (loop.lowerBoundsMap, loop.lower_operands, loop.lowerBoundsGroups),
                (loop.upperBoundsMap, loop.upper_operands, loop.upperBoundsGroups),
            )
        ]
        for value, lower, upper in zip(block.args, *sides, strict=True):
            yield from self._between(value, lower, upper)


def can_overlap(one: Placed, other: Placed) -> bool:
    """Whether the two access a common element for some values of all variables."""
    if one.address.memref is not other.address.memref or _are_apart(one.address, other.address):
        return False
    meeting = _overlap(one.address, other.address)
    verdict = decide(Connective("all", tuple(meeting)))
    if verdict is not None:
        return verdict
    return not is_impossible([*one.conditions, *other.conditions, *meeting])


def _are_apart(one: Address, other: Address) -> bool:
    """Whether two rows of an array are others, as a constant subscript shows."""
    rows = zip(one.subscripts[:-1], other.subscripts[:-1], strict=True)
    return (
        one.offsets is None
        and other.offsets is None
        and any(a.constant != b.constant and a.terms == b.terms for a, b in rows)
    )


def is_impossible(conditions: Sequence[Comparison]) -> bool:
    """Whether the conditions hold for no values of their variables."""
    numbers = sorted({n for condition in conditions for n in condition.left.variables()})
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, len(numbers))
    indices = IndexSpace(space, tuple(numbers), {})
    sets = (indices.condition(condition) for condition in dict.fromkeys(conditions))
    return reduce(isl.Set.intersect, sets, isl.Set.universe(space)).is_empty()


def _overlap(one: Address, other: Address) -> list[Comparison]:
    """When two addresses of one memref have an element in common, or more often."""
    differences = list(map(_difference, one.subscripts, other.subscripts))
    if one.offsets is None and other.offsets is None:
        if not differences:
            return []
        *outer, last = differences
        return [
            *(Comparison("==", difference) for difference in outer),
            Comparison(">=", last + (one.width - 1)),
            Comparison(">=", -last + (other.width - 1)),
        ]
    assert is_memref(one.memref.type)
    extents = one.memref.type.get_shape()
    if DYNAMIC_INDEX in extents[1:]:
        return []
    pitches = [prod(extents[position + 1 :]) for position in range(len(extents))]
    distance = sum((d * pitch for d, pitch in zip(differences, pitches, strict=True)), Index())
    mine, others = _offsets(one), _offsets(other)
    if distance.is_constant and not {distance.constant + o for o in mine} & set(others):
        return [Comparison(">=", Index(-1))]
    return [
        Comparison(">=", distance + (max(mine) - min(others))),
        Comparison(">=", -distance + (max(others) - min(mine))),
    ]


def _difference(one: Index, other: Index) -> Index:
    # Most terms are the same, in the same order.
    return Index(one.constant - other.constant) if one.terms == other.terms else one - other


def _offsets(address: Address) -> Sequence[int]:
    return range(address.width) if address.offsets is None else address.offsets


def _width(kind: Attribute) -> int:
    return kind.get_shape()[0] if isa(kind, VectorType) else 1


def _grouped(results: Sequence[Index], sizes: Iterable[int]) -> list[Sequence[Index]]:
    groups: list[Sequence[Index]] = []
    first = 0
    for size in sizes:
        groups.append(results[first : first + size])
        first += size
    return groups
