"""Values of loop IR as values of its rewriting, by value numbering.

Operations without effects are equal where they compute the same of equal operands, wherever they
stand (Alpern, Wegman, Zadeck, "Detecting equality of variables in programs", POPL 1988). A value
that was loaded under a mask, and is in a register now, is equal in the lanes of the mask alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith, memref
from xdsl.dialects import vector as xdsl_vector
from xdsl.dialects.builtin import FloatAttr, VectorType
from xdsl.dialects.memref import ExtractAlignedPointerAsIndexOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.utils.hints import isa

from ....dialects import affine, vector
from ....dialects.memref import INSPECTED, is_memref
from ....passes.polyhedral.gathers import CHECKED
from ..verdict import NotKnownError

# Operations of these dialects have no effects, but for those below.
_PURE_DIALECTS = ("arith.", "math.", "vector.")
_PURE = (memref.DimOp, ExtractAlignedPointerAsIndexOp, affine.ApplyOp, affine.MinOp, affine.MaxOp)
_ACCESSES = (
    xdsl_vector.LoadOp,
    xdsl_vector.StoreOp,
    xdsl_vector.MaskedLoadOp,
    xdsl_vector.MaskedStoreOp,
    vector.GatherOp,
    vector.ScatterOp,
)
_READS = (
    affine.LoadOp,
    affine.VectorLoadOp,
    memref.LoadOp,
    memref.DimOp,
    xdsl_vector.LoadOp,
    xdsl_vector.MaskedLoadOp,
    vector.GatherOp,
)
# What ends the program for some operands may not be moved.
_TRAPPING = (
    arith.DivSIOp,
    arith.DivUIOp,
    arith.RemSIOp,
    arith.RemUIOp,
    arith.CeilDivSIOp,
    arith.CeilDivUIOp,
    arith.FloorDivSIOp,
)
_ELEMENTWISE = ("arith.", "math.", "vector.fma")


def is_pure(operation: Operation) -> bool:
    """Whether an operation has no effects: it neither accesses memory nor ends the program."""
    if isinstance(operation, _PURE):
        return True
    return (
        operation.name.startswith(_PURE_DIALECTS)
        and not operation.regions
        and not isinstance(operation, (*_ACCESSES, *_TRAPPING))
        and not any(is_memref(operand.type) for operand in operation.operands)
    )


def is_gather(operation: Operation) -> bool:
    """Whether it loads at subscripts that depend on data, from an argument that is only read."""
    if not isinstance(operation, memref.LoadOp | vector.GatherOp):
        return False
    array = operation.operands[0]
    return (
        not operation.attributes.keys().isdisjoint((CHECKED, INSPECTED))
        and isinstance(array, BlockArgument)
        and all(isinstance(use.operation, _READS) for use in array.uses)
    )


@dataclass(frozen=True)
class Named:
    """A value of the rewritten function, equal in the lanes that all `masks` select."""

    value: SSAValue
    masks: frozenset[SSAValue] = frozenset()


@dataclass
class Values:
    """What the values of the function as it was are called in the rewritten one.

    `leaders` stand for all equal values of the rewritten function, `origins` are the values of the
    function as it was that have their names. `twins` suggest which operation of that function an
    operation was.
    """

    twins: Mapping[Operation, Operation]
    names: dict[SSAValue, Named] = field(default_factory=dict[SSAValue, Named])
    leaders: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    origins: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    expressions: dict[Hashable, SSAValue] = field(default_factory=dict[Hashable, SSAValue])

    def leader(self, value: SSAValue) -> SSAValue:
        """The value of the rewritten function that stands for this one of it."""
        return self.leaders.get(value, value)

    def equate(self, value: SSAValue, other: SSAValue) -> None:
        """A value of the rewritten function that has not been used yet is equal to another one."""
        self.leaders[value] = self.leader(other)

    def name(self, before: SSAValue, after: Named) -> None:
        """Says what a value of the function as it was is called."""
        value = self.leader(after.value)
        self.names[before] = Named(value, after.masks)
        if not after.masks:
            self.origins.setdefault(value, before)

    def name_all(self, before: Sequence[SSAValue], after: Sequence[SSAValue]) -> None:
        """Says so of values one by one; there may be more in the rewritten function."""
        for own, other in zip(before, after, strict=False):
            self.name(own, Named(other))

    def canonical(self, before: SSAValue) -> SSAValue:
        """One of all values of the function as it was that are known to be equal."""
        self._demand(before)
        name = self.names.get(before)
        return before if name is None else self.origins.get(name.value, before)

    def origin(self, after: SSAValue) -> SSAValue:
        """The value of the function as it was that a value of the rewritten one is equal to."""
        leader = self.leader(after)
        if leader not in self.origins and isinstance(leader.owner, Operation):
            twin = self.twins.get(leader.owner)
            for result in () if twin is None else twin.results:
                self._demand(result)
        found = self.origins.get(leader)
        if found is None:
            raise NotKnownError("an address is computed from what is not in the program")
        return found

    def define(self, operation: Operation) -> None:
        """A pure operation of the rewritten function."""
        operands = [self.leader(operand) for operand in operation.operands]
        for position, result in enumerate(operation.results):
            key = (position, *_key(operation, operands))
            self.leaders[result] = self.expressions.setdefault(key, result)

    def evaluate(self, operation: Operation) -> None:
        """A pure operation of the function as it was; there may be none that is equal."""
        names = [self.names.get(operand) for operand in operation.operands]
        known = [name for name in names if name is not None]
        masks = frozenset[SSAValue]().union(*(name.masks for name in known))
        if len(known) < len(names) or (masks and not is_elementwise(operation)):
            return
        operands = [name.value for name in known]
        for position, result in enumerate(operation.results):
            value = self.expressions.get((position, *_key(operation, operands)))
            if value is not None:
                self.name(result, Named(value, masks))

    def _demand(self, before: SSAValue) -> None:
        """Evaluates what computes a value, although its place has not been reached."""
        owner = before.owner
        if before not in self.names and isinstance(owner, Operation) and is_pure(owner):
            for operand in owner.operands:
                self._demand(operand)
            self.evaluate(owner)

    def are_equal(
        self, before: SSAValue, after: SSAValue, masks: frozenset[SSAValue] = frozenset()
    ) -> bool:
        """Whether two values are equal in the lanes of all masks."""
        name = self.names.get(before)
        return name is not None and name.value is self.leader(after) and name.masks <= masks


def _key(operation: Operation, operands: Sequence[SSAValue]) -> tuple[Hashable, ...]:
    return (
        operation.name,
        *operands,
        *operation.result_types,
        *((name, _distinct(value)) for name, value in operation.properties.items()),
        *operation.attributes.items(),
    )


def _distinct(attribute: Attribute) -> Hashable:
    """An attribute such that 0.0 and -0.0 are different."""
    if isa(attribute, FloatAttr):
        return repr(attribute.value.data), attribute.type
    return attribute


def is_elementwise(operation: Operation) -> bool:
    """Whether each lane of its results is computed of the same lane of its operands alone."""
    return operation.name.startswith(_ELEMENTWISE) and all(
        isa(value.type, VectorType) for value in (*operation.operands, *operation.results)
    )
