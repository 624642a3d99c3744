"""Contexts of loads and stores in a normalised function: loops, conditions, textual order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import func, memref
from xdsl.dialects.affine import ForOp, IfOp, LoadOp, StoreOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import (
    AffineConstraintKind,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

from ....dialects.errors import SourceError
from ..gathers import is_irregular
from ..identifiers import identifier
from .affine_values import AffineValues, NotAffineError
from .cells import insert_before
from .opaque_accesses import OpaqueAccess, opaque_accesses

_RELATIONS = {
    AffineConstraintKind.ge: ">=",
    AffineConstraintKind.le: "<=",
    AffineConstraintKind.eq: "=",
}


@dataclass(frozen=True)
class Surroundings:
    """The surrounding loops, outermost first, and conditions, as isl text."""

    loops: tuple[ForOp, ...] = ()
    names: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Place:
    """A load or store: `order` counts in textual order, `subscripts` are over the loops around."""

    op: LoadOp | StoreOp
    surroundings: Surroundings
    order: int
    subscripts: tuple[AffineExpr, ...]

    @property
    def memref(self) -> SSAValue:
        """The array that is accessed."""
        return self.op.memref


@dataclass(frozen=True, eq=False)
class OpaqueCall:
    """The call of an opaque region, with what it may access."""

    op: func.CallOp
    surroundings: Surroundings
    order: int
    accesses: tuple[OpaqueAccess, ...]


Root = StoreOp | func.CallOp
"""What statements are made of: stores, and calls of opaque regions."""


@dataclass
class LoopNest:
    """An affine.for and what runs in it."""

    op: ForOp
    name: str
    children: list[LoopNest | Root] = field(default_factory=list["LoopNest | Root"])


@dataclass
class Nests:
    """A whole function: `children` in textual order, `places` of all loads and stores."""

    values: AffineValues
    children: list[LoopNest | Root] = field(default_factory=list["LoopNest | Root"])
    calls: dict[Operation, OpaqueCall] = field(default_factory=dict[Operation, OpaqueCall])
    places: dict[Operation, Place] = field(default_factory=dict[Operation, Place])
    orders: dict[Operation, int] = field(default_factory=dict[Operation, int])
    around: dict[Block, Surroundings] = field(default_factory=dict[Block, Surroundings])

    @property
    def stores(self) -> Iterator[Place]:
        """All stores in textual order."""
        return (place for place in self.places.values() if isinstance(place.op, StoreOp))

    @property
    def roots(self) -> list[Place | OpaqueCall]:
        """All stores and opaque calls in textual order."""
        return sorted([*self.stores, *self.calls.values()], key=lambda root: root.order)


def analyse(function: func.FuncOp) -> Nests:
    """Walks a normalised function; raises SourceError for bounds and subscripts not affine."""
    nests = Nests(AffineValues(function))
    _Walk(nests).block(function.body.block, Surroundings(), nests.children)
    return nests


def must_be_affine(
    values: AffineValues,
    op: Operation,
    what: str,
    affine_map: AffineMap,
    operands: Sequence[SSAValue],
    *,
    piecewise: bool = True,
) -> tuple[AffineExpr, ...]:
    """`values.map`, with errors at `op`, of which `what` is the part that is to be affine."""
    try:
        return values.map(affine_map, operands, piecewise=piecewise)
    except NotAffineError as error:
        name = f"'%{error.value.name_hint}'" if error.value.name_hint else "a value"
        message = f"{what} is not affine: it depends on {name}, and {error}"
        raise SourceError.at(op, message, hint=error.hint) from None


def _gather(op: LoadOp) -> Operation:
    """The load as one of the memref dialect, in its place."""
    places = op.map.data.num_dims
    positions = (
        each.position if isinstance(each, AffineDimExpr) else places + each.position
        for each in op.map.data.results
        if isinstance(each, AffineDimExpr | AffineSymExpr)
    )
    load = memref.LoadOp.get(op.memref, [op.indices[position] for position in positions])
    load.location = op.location
    load.results[0].name_hint = op.result.name_hint
    insert_before(op, load)
    op.result.replace_all_uses_with(load.results[0])
    op.detach()
    op.erase()
    return load


class _Walk:
    def __init__(self, nests: Nests):
        self.nests = nests
        self.values = nests.values

    def block(self, block: Block, around: Surroundings, children: list[LoopNest | Root]) -> None:
        self.nests.around[block] = around
        for op in list(block.ops):
            if isinstance(op, LoadOp) and self._is_gather(op):
                op = _gather(op)
            self.nests.orders[op] = len(self.nests.orders)
            match op:
                case ForOp():
                    self._loop(op, around, children)
                case IfOp():
                    self._condition(op, around, children)
                case LoadOp() | StoreOp():
                    self._access(op, around)
                    if isinstance(op, StoreOp):
                        children.append(op)
                case func.CallOp():
                    accesses = opaque_accesses(self.values, op)
                    order = self.nests.orders[op]
                    self.nests.calls[op] = OpaqueCall(op, around, order, accesses)
                    children.append(op)
                case _:
                    pass

    def _is_gather(self, op: LoadOp) -> bool:
        """Whether subscripts are irregular, and the array is an argument that is never written."""
        results = op.map.data.results
        if not all(isinstance(each, AffineDimExpr | AffineSymExpr) for each in results):
            return False
        if not any(map(is_irregular, op.indices)):
            return False
        array = op.memref
        if not isinstance(array, BlockArgument) or any(
            isinstance(use.operation, StoreOp) for use in array.uses
        ):
            raise SourceError.at(
                op,
                "a subscript that depends on data, of an array that the function writes",
                hint="only arrays that are never written are read at such subscripts",
            )
        return True

    def _access(self, op: LoadOp | StoreOp, around: Surroundings) -> None:
        subscripts = must_be_affine(
            self.values, op, "the subscript", op.map.data, op.indices, piecewise=False
        )
        order = self.nests.orders[op]
        self.nests.places[op] = Place(op, around, order, subscripts)

    def _loop(self, op: ForOp, around: Surroundings, children: list[LoopNest | Root]) -> None:
        depth = len(around.loops)
        lower = must_be_affine(
            self.values, op, "the lower bound", op.lowerBoundMap.data, op.lowerBoundOperands
        )
        upper = must_be_affine(
            self.values, op, "the upper bound", op.upperBoundMap.data, op.upperBoundOperands
        )
        variable = op.body.block.args[0]
        taken = {
            *around.names,
            *self.values.names.arguments,
            *self.values.names.dimensions.values(),
        }
        name = identifier(variable.name_hint, f"i{depth}", taken)
        self.values.bind(variable, depth)
        names = (*around.names, name)
        lower_texts = [self.values.text(e, names) for e in lower]
        upper_texts = [self.values.text(e, names) for e in upper]
        constraints = [
            *(f"{text} <= {name}" for text in lower_texts),
            *(f"{name} < {text}" for text in upper_texts),
        ]
        if (step := op.step.value.data) != 1:
            first = lower_texts[0] if len(lower_texts) == 1 else f"max({', '.join(lower_texts)})"
            constraints.append(f"({name} - {first}) mod {step} = 0")
        inner = Surroundings((*around.loops, op), names, (*around.constraints, *constraints))
        nest = LoopNest(op, name)
        self.block(op.body.block, inner, nest.children)
        if nest.children:
            children.append(nest)

    def _condition(self, op: IfOp, around: Surroundings, children: list[LoopNest | Root]) -> None:
        condition = op.condition.data
        kinds = [_RELATIONS[constraint.kind] for constraint in condition.constraints]
        differences = AffineMap(
            condition.num_dims,
            condition.num_symbols,
            tuple(constraint.lhs - constraint.rhs for constraint in condition.constraints),
        )
        results = must_be_affine(self.values, op, "the condition", differences, op.args)
        text = " and ".join(
            f"{self.values.text(result, around.names)} {kind} 0"
            for result, kind in zip(results, kinds, strict=True)
        )
        text = text or "1 = 1"
        branches = zip(
            (op.then_region, op.else_region), (f"({text})", f"not ({text})"), strict=True
        )
        for region, constraint in branches:
            if region.blocks:
                inner = Surroundings(around.loops, around.names, (*around.constraints, constraint))
                self.block(region.block, inner, children)
