"""Alias analysis of loads and stores of the loop IR."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import affine as xdsl_affine
from xdsl.dialects import arith, memref
from xdsl.dialects import vector as xdsl_vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    IntegerAttr,
    MemRefType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstraintKind, AffineExpr

from ...dialects import affine, vector
from ...dialects.arith import constant_lanes
from ...dialects.memref import is_memref
from ...dialects.vector import is_vector
from ...passes.polyhedral.gathers import CHECKED
from ..nest.index_bounds import Range
from ..nest.index_expression import Index, Variable, linear_form
from ..nest.simplification import is_implied

# Whatever has another name touches no place: most of the operations that are asked about.
_ACCESSES = frozenset(
    kind.name
    for kind in (
        xdsl_affine.LoadOp,
        xdsl_affine.StoreOp,
        affine.VectorLoadOp,
        affine.VectorStoreOp,
        xdsl_vector.MaskedLoadOp,
        xdsl_vector.MaskedStoreOp,
        vector.GatherOp,
        vector.ScatterOp,
    )
)

# So many steps at most from an inequality to the bounds of the outermost loop.
DEPTH = 8


@dataclass(frozen=True)
class Place:
    """Memory location: subscripts of the first element, and the number of elements along the row.

    `mask`, when given, says which of them count. `offsets`, when given, are where the elements lie
    instead, counted from the first one in memory.
    """

    memref: SSAValue
    subscripts: tuple[Index, ...]
    type: Attribute
    mask: SSAValue | None = None
    offsets: tuple[int, ...] | None = None

    @property
    def width(self) -> int:
        """How many elements, masked or not."""
        return self.type.get_shape()[0] if is_vector(self.type) else 1

    def is_same(self, other: Place) -> bool:
        """Whether two places are equal, in whatever order the terms of their subscripts are."""
        return (
            self.memref is other.memref
            and (self.type, self.offsets) == (other.type, other.offsets)
            and self.mask is other.mask
            and all(
                a - b == Index() for a, b in zip(self.subscripts, other.subscripts, strict=True)
            )
        )


@dataclass(frozen=True)
class PlacedAccess:
    """A load or store with its memory location."""

    operation: Operation
    place: Place

    @property
    def is_store(self) -> bool:
        """Whether it stores."""
        return not self.operation.results


@dataclass
class Numbering:
    """Numbers for SSA values of type index, as variables of `Index`.

    `assumptions` are not negative at the place in question, because of the conditions around it.
    """

    values: list[SSAValue] = field(default_factory=list[SSAValue])
    numbers: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    assumptions: tuple[Index, ...] = ()
    positive: dict[Index, bool] = field(default_factory=dict[Index, bool])
    linear: dict[tuple[int, int], tuple[AffineExpr, Index]] = field(
        default_factory=dict[tuple[int, int], tuple[AffineExpr, Index]]
    )

    def go_to(self, operation: Operation) -> None:
        """Takes over what the conditions around an operation say."""
        self.positive.clear()
        assumptions: list[Index] = []
        block = operation.parent
        while block is not None and (parent := block.parent_op()) is not None:
            if isinstance(parent, xdsl_affine.IfOp) and block is parent.then_region.block:
                assumptions += self._conditions(parent)
            block = parent.parent
        self.assumptions = tuple(assumptions)

    def _conditions(self, branch: xdsl_affine.IfOp) -> tuple[Index, ...]:
        condition = branch.condition.data
        sides = [
            side
            for constraint in condition.constraints
            for side in (constraint.lhs, constraint.rhs)
        ]
        forms = self.forms(sides, condition.num_dims, branch.args)
        kinds = [constraint.kind for constraint in condition.constraints]
        pairs = list(zip(kinds, forms[::2], forms[1::2], strict=True))
        known = [
            right - left if kind is AffineConstraintKind.le else left - right
            for kind, left, right in pairs
            if kind is not AffineConstraintKind.eq
        ]
        for kind, left, right in pairs:
            if kind is AffineConstraintKind.eq:
                known += self._bounds_of_solution(left - right)
        return tuple(known)

    def _bounds_of_solution(self, index: Index) -> list[Index]:
        """What is not negative where an index is 0: the bounds of a loop hold for its variable.

        `jt - 14 == 0` inside of `for jt = kt + 1 to 15` says that `13 - kt` is not negative.
        """
        found: list[Index] = []
        for number in index.variables():
            coefficient = index.coefficient(number)
            if coefficient is None or abs(coefficient) != 1:
                continue
            value = Index.variable(number) - index * coefficient
            lowers, uppers = self._bounds(self.values[number])
            found += [value - lower for lower in lowers]
            found += [upper - 1 - value for upper in uppers]
        return found

    def index(self, value: SSAValue) -> Index:
        """The value as a sum over others, where it is computed by constants and affine.apply."""
        known = self.numbers.get(value)
        if known is not None:
            return Index.variable(known)
        match value.owner:
            case arith.ConstantOp(value=IntegerAttr(value=constant)):
                return Index(constant.data)
            case xdsl_affine.ApplyOp() as apply:
                return self.results(apply.map, apply.mapOperands)[0]
            case _:
                pass
        number = self.numbers[value] = len(self.values)
        self.values.append(value)
        return Index.variable(number)

    def results(self, attribute: AffineMapAttr, operands: Sequence[SSAValue]) -> tuple[Index, ...]:
        """The results of an affine map."""
        map = attribute.data
        return self.forms(map.results, map.num_dims, operands)

    def forms(
        self, expressions: Sequence[AffineExpr], dims: int, operands: Sequence[SSAValue]
    ) -> tuple[Index, ...]:
        """Affine expressions over operands."""
        values = {position: self.index(operand) for position, operand in enumerate(operands)}
        return tuple(self._linear(e, dims).substitute(values) for e in expressions)

    def _linear(self, expression: AffineExpr, dims: int) -> Index:
        """`linear_form`, by the identity of the expression: hashing one looks at all of it."""
        known = self.linear.get((id(expression), dims))
        if known is None:
            # The expression is kept as well, so that its id stays its own.
            known = expression, linear_form(expression, dims)
            self.linear[id(expression), dims] = known
        return known[1]

    def place(self, operation: Operation) -> Place | None:
        """What a load or store touches; None where that is no part of a row."""
        if operation.name not in _ACCESSES:
            return None
        operands = operation.operands
        match operation:
            case xdsl_affine.LoadOp() | affine.VectorLoadOp():
                subscripts = self._mapped(operation, operands[1:])
                return Place(operands[0], subscripts, operation.results[0].type)
            case xdsl_affine.StoreOp() | affine.VectorStoreOp():
                subscripts = self._mapped(operation, operands[2:])
                return Place(operands[1], subscripts, operands[0].type)
            case xdsl_vector.MaskedLoadOp():
                subscripts = tuple(self.index(value) for value in operation.indices)
                return Place(operation.base, subscripts, operation.result.type, operation.mask)
            case xdsl_vector.MaskedStoreOp():
                subscripts = tuple(self.index(value) for value in operation.indices)
                kind = operation.value_to_store.type
                return Place(operation.base, subscripts, kind, operation.mask)
            case vector.GatherOp() if CHECKED in operation.attributes:
                return None  # Loads that take its place would not be checked.
            case vector.GatherOp():
                return self._scattered(operation, operation.result.type)
            case vector.ScatterOp():
                return self._scattered(operation, operation.value_to_store.type)
            case _:
                return None

    def accesses(self, block: Block) -> dict[SSAValue, list[PlacedAccess]]:
        """The accesses in a block in order, by memref, where all of them are at known places."""
        result: dict[SSAValue, list[PlacedAccess]] = {}
        unknown: set[SSAValue] = set()
        for operation in block.ops:
            place = self.place(operation)
            if place is None:
                unknown.update(touched_memrefs(operation))
            else:
                result.setdefault(place.memref, []).append(PlacedAccess(operation, place))
        return {memref: group for memref, group in result.items() if memref not in unknown}

    def _scattered(
        self, operation: vector.GatherOp | vector.ScatterOp, kind: Attribute
    ) -> Place | None:
        offsets = constant_lanes(operation.index_vec)
        if offsets is None:
            return None
        subscripts = tuple(self.index(value) for value in operation.indices)
        mask = constant_lanes(operation.mask)
        is_whole = mask is not None and all(mask)
        return Place(
            operation.base, subscripts, kind, None if is_whole else operation.mask, offsets
        )

    def _mapped(self, operation: Operation, operands: Sequence[SSAValue]) -> tuple[Index, ...]:
        attribute = operation.properties["map"]
        assert isinstance(attribute, AffineMapAttr)
        return self.results(attribute, operands)

    def is_disjoint(self, one: Place, other: Place) -> bool:
        """Whether two places of one memref have no element in common, whatever the masks are."""
        if one.offsets is not None or other.offsets is not None:
            return _are_apart(one, other)
        last = len(one.subscripts) - 1
        for position, (a, b) in enumerate(zip(one.subscripts, other.subscripts, strict=True)):
            behind_b, behind_a = (other.width, one.width) if position == last else (1, 1)
            distance = a - b
            if distance.is_constant:
                if distance.constant >= behind_b or -distance.constant >= behind_a:
                    return True
                continue
            if self.is_positive(distance - (behind_b - 1)) or self.is_positive(
                b - a - (behind_a - 1)
            ):
                return True
        return False

    def is_positive(self, index: Index, depth: int = DEPTH) -> bool:
        """Whether bounds of loops and the facts prove that the index is positive.

        Replaces the innermost loop's variable by its bounds, then that of the next loop ...
        """
        if index not in self.positive:
            self.positive[index] = self._is_positive(index, depth)
        return self.positive[index]

    def _is_positive(self, index: Index, depth: int) -> bool:
        if is_implied(index - 1, self.assumptions):
            return True
        variables = [atom.number for atom, _ in index.terms if isinstance(atom, Variable)]
        if depth == 0 or not variables or len(variables) < len(index.terms):
            return False
        variable = max(variables, key=lambda number: _depth(self.values[number]))
        coefficient = index.coefficient(variable)
        if coefficient is None:
            return False
        lowers, uppers = self._bounds(self.values[variable])
        ends = lowers if coefficient > 0 else [upper - 1 for upper in uppers]
        return any(self.is_positive(index.substitute({variable: end}), depth - 1) for end in ends)

    def ranges(self, operation: Operation) -> list[Range]:
        """The ranges of the loops around an operation, innermost first."""
        found: list[Range] = []
        block = operation.parent
        while block is not None and (parent := block.parent_op()) is not None:
            for value in reversed(block.args):
                lowers, uppers = self._bounds(value)
                if lowers:
                    (number,) = self.index(value).variables()
                    found.append(Range(number, [*lowers], [upper - 1 for upper in uppers]))
            block = parent.parent
        return found

    def _bounds(self, value: SSAValue) -> tuple[Sequence[Index], Sequence[Index]]:
        """Lower and upper bounds of the loop whose variable the value is; none where it is none."""
        block = value.owner
        loop = block.parent_op() if isinstance(block, Block) else None
        if isinstance(loop, xdsl_affine.ForOp) and loop.body.block.args[0] is value:
            lowers = self.results(loop.lowerBoundMap, loop.lowerBoundOperands)
            return lowers, self.results(loop.upperBoundMap, loop.upperBoundOperands)
        if isinstance(loop, affine.ParallelOp):
            position = loop.body.block.args.index(value)
            lowers = self.results(loop.lowerBoundsMap, loop.lower_operands)
            uppers = self.results(loop.upperBoundsMap, loop.upper_operands)
            return (
                _group(lowers, loop.lowerBoundsGroups.get_values(), position),
                _group(uppers, loop.upperBoundsGroups.get_values(), position),
            )
        return (), ()


def _are_apart(one: Place, other: Place) -> bool:
    """Whether places of one memref at a known distance have no element in common."""
    assert is_memref(one.memref.type)
    extents = one.memref.type.get_shape()
    if DYNAMIC_INDEX in extents[1:]:
        return False
    pairs = zip(one.subscripts, other.subscripts, strict=True)
    strides = (prod(extents[position + 1 :]) for position in range(len(extents)))
    distance = Index(0)
    for (a, b), stride in zip(pairs, strides, strict=True):
        distance += (a - b) * stride
    if not distance.is_constant:
        return False
    places = {distance.constant + offset for offset in _offsets(one)}
    return places.isdisjoint(_offsets(other))


def _offsets(place: Place) -> Sequence[int]:
    return range(place.width) if place.offsets is None else place.offsets


def touched_memrefs(operation: Operation) -> list[SSAValue]:
    """The memrefs that an operation may access, and those that they are views of."""
    touched = [value for value in operation.operands if isinstance(value.type, MemRefType)]
    for value in touched:
        if isinstance(value.owner, memref.CastOp | memref.SubviewOp):
            touched.append(value.owner.source)
    return touched


def is_inside(value: SSAValue, block: Block) -> bool:
    """Whether a block makes the value."""
    owner = value.owner
    return owner is block or (isinstance(owner, Operation) and owner.parent is block)


def _group(results: Sequence[Index], sizes: Sequence[int], position: int) -> Sequence[Index]:
    """The results of a map that are bounds of one loop of several."""
    first = sum(sizes[:position])
    return results[first : first + sizes[position]]


def _depth(value: SSAValue) -> int:
    owner = value.owner
    operation = owner.parent_op() if isinstance(owner, Block) else owner
    depth = 0
    while operation is not None:
        operation, depth = operation.parent_op(), depth + 1
    return depth
