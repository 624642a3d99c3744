"""Magnitudes of index expressions: the sizes with which none leaves its type.

    affine.if (s0 - d0 - 1 >= 0)(%i)[%t]    ->    |t| + |i| + 1 <= 2^63 - 1

A `Magnitude` has all values of an index. Sizes that are known are constants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from xdsl.dialects import affine, arith, func, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    IndexType,
    IntegerType,
    ModuleOp,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

from ...dialects.affine import DelinearizeIndexOp, LinearizeIndexOp
from ...dialects.memref import is_memref
from ...passes.polyhedral.integer_ranges import constant_of
from ...passes.polyhedral.memrefs import integer_width
from ...passes.polyhedral.raising.affine_values import wraps_around
from .call_graph import callee_of, functions_in
from .magnitude import Magnitude, Size, exactly

_ROOM = 1 << 62
"""Indices stay below where sizes are not known yet."""

_KNOWN_ROOM = (1 << 63) - (1 << 32)
"""Indices that are known stay below: lanes and parts of tiles are added to them."""

_SIGNED_PREDICATES = 6  # of arith.cmpi, those of equality included


Need = tuple[Magnitude, int]
"""What an integer of so many bits has to hold."""

Extents = tuple[Magnitude | None, ...]


@dataclass(frozen=True)
class SizeLimits:
    """The largest magnitude of each size; without `fits`, constants alone are too large."""

    largest: Mapping[Size, int]
    fits: bool

    def joined(self, other: SizeLimits) -> SizeLimits:
        """The limits of both."""
        largest = dict(self.largest)
        for size, limit in other.largest.items():
            largest[size] = min(limit, largest.get(size, limit))
        return SizeLimits(largest, self.fits and other.fits)

    def renamed(self, sizes: Sequence[Size]) -> SizeLimits:
        """Those of the sizes that are the arguments of a function, in order."""
        renamed = {sizes[argument]: limit for (argument, _), limit in self.largest.items()}
        return SizeLimits(renamed, self.fits)


def size_limits(
    function: func.FuncOp, known: Mapping[Size, Magnitude], *, arithmetic_only: bool = False
) -> SizeLimits:
    """The sizes with which no index of a function, or of those that it calls, leaves its type.

    `known` has what is known of sizes. Operations of arith count where their result is a bound, a
    subscript, an extent or in a condition; affine expressions do unless `arithmetic_only`. What
    depends on data never does.
    """
    around = function.get_toplevel_object()
    functions = functions_in(around) if isinstance(around, ModuleOp) else {}
    walk = _Walk(functions, arithmetic_only=arithmetic_only)
    walk.function(function, *_arguments(function, known))
    largest: dict[Size, int] = {}
    fits = True
    for magnitude, bits in walk.needs:
        most = _ROOM if magnitude.factors else _KNOWN_ROOM
        room = min(most, (1 << (bits - 1)) - 1) - magnitude.constant
        fits &= room >= 0
        total = sum(magnitude.factors.values())
        for size, factor in magnitude.factors.items():
            if factor:
                largest[size] = min(max(room, 0) // total, largest.get(size, room))
    return SizeLimits(largest, fits)


def _arguments(
    function: func.FuncOp, known: Mapping[Size, Magnitude]
) -> tuple[dict[SSAValue, Magnitude], dict[SSAValue, Extents]]:
    """The magnitudes of the integer arguments, and of the extents of arrays."""
    values: dict[SSAValue, Magnitude] = {}
    extents: dict[SSAValue, Extents] = {}

    def size(position: int, dimension: int | None) -> Magnitude:
        unknown = Magnitude(factors={(position, dimension): 1})
        return known.get((position, dimension), unknown)

    for position, argument in enumerate(function.args):
        if is_memref(argument.type):
            extents[argument] = tuple(
                size(position, dimension) if extent == DYNAMIC_INDEX else exactly(extent)
                for dimension, extent in enumerate(argument.type.get_shape())
            )
        elif isinstance(argument.type, IndexType | IntegerType):
            values[argument] = size(position, None)
    return values, extents


class _Walk:
    """What is known of the values of a function: nothing of those that depend on data.

    `open` has what arithmetic on the way to a value needs where the value is an index.
    """

    def __init__(self, functions: Mapping[str, func.FuncOp], *, arithmetic_only: bool) -> None:
        self.functions = functions
        self.arithmetic_only = arithmetic_only
        self.needs: list[Need] = []
        self.values: dict[SSAValue, Magnitude] = {}
        self.extents: dict[SSAValue, Extents] = {}
        self.open: dict[SSAValue, tuple[Need, ...]] = {}
        self.called: dict[str, list[Magnitude | Extents | None]] = {}

    def function(
        self,
        function: func.FuncOp,
        values: Mapping[SSAValue, Magnitude],
        extents: Mapping[SSAValue, Extents],
    ) -> None:
        self.values |= values
        self.extents |= extents
        self.block(function.body.block)

    def block(self, block: Block) -> None:
        for operation in block.ops:
            rule = _RULES.get(operation.name)
            if rule is not None:
                rule(self, operation)
            for region in operation.regions:
                for inner in region.blocks:
                    self.block(inner)

    def need(self, magnitude: Magnitude | None) -> None:
        """An affine expression has this magnitude."""
        if magnitude is not None and not self.arithmetic_only and magnitude.is_large(64):
            self.needs.append((magnitude, 64))

    def use(self, values: Iterable[SSAValue]) -> None:
        """Values are indices: the arithmetic on the way to them counts."""
        for value in values:
            self.needs += (need for need in self.open.get(value, ()) if need[0].is_large(need[1]))

    def results(self, function: AffineMap, operands: Sequence[SSAValue]) -> list[Magnitude | None]:
        """The magnitudes of the results of a map, which are indices."""
        self.use(operands)
        return [self.index(each, function.num_dims, operands) for each in function.results]

    def index(
        self, expression: AffineExpr, dims: int, operands: Sequence[SSAValue]
    ) -> Magnitude | None:
        found = self.expression(expression, dims, operands)
        self.need(found)
        return found

    def expression(
        self, expression: AffineExpr, dims: int, operands: Sequence[SSAValue]
    ) -> Magnitude | None:
        match expression:
            case AffineConstantExpr(value):
                return exactly(value)
            case AffineDimExpr(position):
                return self.values.get(operands[position])
            case AffineSymExpr(position):
                return self.values.get(operands[dims + position])
            case AffineBinaryOpExpr(kind, left, right):
                one = self.expression(left, dims, operands)
                if isinstance(right, AffineConstantExpr):
                    return None if one is None else self.by_constant(kind, one, right.value)
                other = self.expression(right, dims, operands)
                if kind is not AffineBinaryOpKind.Add or one is None or other is None:
                    return None
                return one + other
            case _:
                return None

    def by_constant(self, kind: AffineBinaryOpKind, one: Magnitude, value: int) -> Magnitude:
        match kind:
            case AffineBinaryOpKind.Add:
                return one + exactly(value)
            case AffineBinaryOpKind.Mul:
                return one.times(value)
            case AffineBinaryOpKind.Mod:
                self.need(one)
                return Magnitude(0, abs(value))
            case _:
                self.need(one + Magnitude(-abs(value), abs(value)))
                return one.divided(value)

    def loop(
        self,
        body: Block,
        lower: Sequence[Magnitude | None],
        upper: Sequence[Magnitude | None],
        step: int,
        count: int,
    ) -> None:
        """The first arguments of a loop's body are between its bounds, which are subtracted."""
        first, last = _hull(lower), _hull(upper)
        if first is None or last is None:
            return
        self.need(last - first + exactly(step))
        values = first.hull(last)
        self.need(values + Magnitude(0, step))
        for variable in body.args[:count]:
            self.values[variable] = values

    def condition(self, value: SSAValue) -> None:
        owner = value.owner
        if isinstance(owner, arith.AndIOp):
            self.condition(owner.lhs)
            self.condition(owner.rhs)
        elif isinstance(owner, arith.CmpiOp) and owner.predicate.value.data < _SIGNED_PREDICATES:
            operands = (owner.lhs, owner.rhs)
            if all(operand in self.values for operand in operands):
                self.use(operands)

    def extent(self, array: SSAValue, position: int) -> Magnitude | None:
        if array in self.extents and position < len(self.extents[array]):
            return self.extents[array][position]
        shape = array.type.get_shape() if is_memref(array.type) else ()
        known = position < len(shape) and shape[position] != DYNAMIC_INDEX
        return exactly(shape[position]) if known else None

    def arithmetic(
        self, operation: Operation, found: Magnitude | None, *, exact: bool = True
    ) -> None:
        """The result of an operation on integers; it wraps around unless `exact`."""
        if found is None or wraps_around(operation):
            return
        (result,) = operation.results
        self.values[result] = found
        needs = [need for operand in operation.operands for need in self.open.get(operand, ())]
        if not exact:
            needs.append((found, _bits(result.type)))
        if needs:
            self.open[result] = tuple(needs)


def _hull(parts: Sequence[Magnitude | None]) -> Magnitude | None:
    known = [each for each in parts if each is not None]
    return reduce(Magnitude.hull, known) if known and len(known) == len(parts) else None


def _bits(kind: Attribute) -> int:
    return integer_width(kind) or 64


def _affine_for(walk: _Walk, op: Operation) -> None:
    assert isinstance(op, affine.ForOp)
    lower = walk.results(op.lowerBoundMap.data, op.lowerBoundOperands)
    upper = walk.results(op.upperBoundMap.data, op.upperBoundOperands)
    walk.loop(op.body.block, lower, upper, op.step.value.data, 1)


def _affine_parallel(walk: _Walk, op: Operation) -> None:
    assert isinstance(op, affine.ParallelOp)
    lower_map, upper_map = op.lowerBoundsMap.data, op.upperBoundsMap.data
    split = lower_map.num_dims + lower_map.num_symbols
    lower = walk.results(lower_map, op.map_operands[:split])
    upper = walk.results(upper_map, op.map_operands[split:])
    step = max((each.value.data for each in op.steps), default=1)
    walk.loop(op.body.block, lower, upper, step, len(op.body.block.args))


def _affine_if(walk: _Walk, op: Operation) -> None:
    assert isinstance(op, affine.IfOp)
    walk.use(op.args)
    condition = op.condition.data
    for constraint in condition.constraints:
        for side in (constraint.lhs, constraint.rhs):
            walk.index(side, condition.num_dims, op.args)


def _affine_apply(walk: _Walk, op: Operation) -> None:
    assert isinstance(op, affine.ApplyOp)
    (found,) = walk.results(op.map.data, op.mapOperands)
    walk.arithmetic(op, found)


def _affine_extremum(walk: _Walk, op: Operation) -> None:
    function = op.properties["map"]
    assert isinstance(function, AffineMapAttr)
    walk.arithmetic(op, _hull(walk.results(function.data, op.operands)))


def _access(walk: _Walk, op: Operation) -> None:
    function = op.properties["map"]
    assert isinstance(function, AffineMapAttr)
    count = function.data.num_dims + function.data.num_symbols
    walk.results(function.data, op.operands[len(op.operands) - count :])


def _plain_access(walk: _Walk, op: Operation) -> None:
    assert isinstance(op, memref.LoadOp | memref.StoreOp)
    walk.use(op.indices)


def _delinearize(walk: _Walk, op: Operation) -> None:
    assert isinstance(op, DelinearizeIndexOp)
    for result, function in zip(op.multi_index, op.maps(), strict=True):
        (found,) = walk.results(function, (op.linear_index,))
        if found is not None:
            walk.values[result] = found


def _linearize(walk: _Walk, op: Operation) -> None:
    assert isinstance(op, LinearizeIndexOp)
    (found,) = walk.results(op.map(), op.multi_index)
    if found is not None:
        walk.values[op.linear_index] = found


def _scf_for(walk: _Walk, op: Operation) -> None:
    assert isinstance(op, scf.ForOp)
    lower, upper = (walk.values.get(end) for end in (op.lb, op.ub))
    step = walk.values.get(op.step)
    if None not in (lower, upper) and step is not None and not step.factors:
        walk.use((op.lb, op.ub))
        walk.loop(op.body.block, [lower], [upper], step.constant, 1)


def _scf_if(walk: _Walk, op: Operation) -> None:
    assert isinstance(op, scf.IfOp)
    walk.condition(op.cond)


def _alloc(walk: _Walk, op: Operation) -> None:
    assert isinstance(op, memref.AllocOp | memref.AllocaOp)
    walk.use(op.dynamic_sizes)
    sizes = iter(op.dynamic_sizes)
    shape = op.memref.type.get_shape()
    walk.extents[op.memref] = tuple(
        walk.values.get(next(sizes)) if extent == DYNAMIC_INDEX else exactly(extent)
        for extent in shape
    )


def _memref_cast(walk: _Walk, op: Operation) -> None:
    assert isinstance(op, memref.CastOp)
    if op.source in walk.extents:
        walk.extents[op.dest] = walk.extents[op.source]


def _dim(walk: _Walk, op: Operation) -> None:
    assert isinstance(op, memref.DimOp)
    position = constant_of(op.index)
    found = None if position is None else walk.extent(op.source, position)
    if found is not None:
        walk.values[op.result] = found


def _call(walk: _Walk, op: Operation) -> None:
    assert isinstance(op, func.CallOp)
    callee = walk.functions.get(callee_of(op))
    if callee is None:
        return
    given = [walk.values.get(each) or walk.extents.get(each) for each in op.arguments]
    walk.use(op.arguments)
    if walk.called.get(callee_of(op)) == given:
        return
    walk.called[callee_of(op)] = given
    pairs = list(zip(callee.args, given, strict=True))
    for argument in callee.args:
        walk.values.pop(argument, None)
        walk.extents.pop(argument, None)
    walk.function(
        callee,
        {argument: each for argument, each in pairs if isinstance(each, Magnitude)},
        {argument: each for argument, each in pairs if isinstance(each, tuple)},
    )


def _constant(walk: _Walk, op: Operation) -> None:
    assert isinstance(op, arith.ConstantOp)
    number = constant_of(op.result)
    if number is not None:
        walk.values[op.result] = exactly(number)


def _cast(walk: _Walk, op: Operation) -> None:
    (operand,), (result,) = op.operands, op.results
    if isinstance(result.type, IndexType):
        walk.use((operand,))
    is_narrower = _bits(result.type) < _bits(operand.type)
    walk.arithmetic(op, walk.values.get(operand), exact=not is_narrower)


def _binary(
    combine: Callable[[Magnitude, Magnitude], Magnitude | None], *, exact: bool
) -> Callable[[_Walk, Operation], None]:
    def rule(walk: _Walk, op: Operation) -> None:
        left, right = (walk.values.get(operand) for operand in op.operands[-2:])
        if left is not None and right is not None:
            walk.arithmetic(op, combine(left, right), exact=exact)

    return rule


def _product(walk: _Walk, op: Operation) -> None:
    for factor, other in (op.operands, reversed(op.operands)):
        number, value = constant_of(factor), walk.values.get(other)
        if number is not None and value is not None:
            walk.arithmetic(op, value.times(number), exact=False)
            return


def _quotient(left: Magnitude, right: Magnitude) -> Magnitude:
    return left.divided(right.low if right == exactly(right.low) else 0)


def _unsigned_quotient(left: Magnitude, right: Magnitude) -> Magnitude | None:
    return None if left.low < 0 or left.factors else _quotient(left, right)


def _remainder(left: Magnitude, right: Magnitude) -> Magnitude:
    return left.around_zero() if right.factors else right.around_zero()


_SUM = _binary(Magnitude.__add__, exact=False)
_DIFFERENCE = _binary(Magnitude.__sub__, exact=False)
_EITHER = _binary(Magnitude.hull, exact=True)
_QUOTIENT = _binary(_quotient, exact=True)
_REMAINDER = _binary(_remainder, exact=True)

_RULES: Mapping[str, Callable[[_Walk, Operation], None]] = {
    "affine.for": _affine_for,
    "affine.parallel": _affine_parallel,
    "affine.if": _affine_if,
    "affine.apply": _affine_apply,
    "affine.min": _affine_extremum,
    "affine.max": _affine_extremum,
    "affine.load": _access,
    "affine.store": _access,
    "affine.vector_load": _access,
    "affine.vector_store": _access,
    "affine.prefetch": _access,
    "affine.delinearize_index": _delinearize,
    "affine.linearize_index": _linearize,
    "memref.load": _plain_access,
    "memref.store": _plain_access,
    "memref.alloc": _alloc,
    "memref.alloca": _alloc,
    "memref.cast": _memref_cast,
    "memref.dim": _dim,
    "scf.for": _scf_for,
    "scf.if": _scf_if,
    "func.call": _call,
    "arith.constant": _constant,
    "arith.index_cast": _cast,
    "arith.extsi": _cast,
    "arith.addi": _SUM,
    "arith.subi": _DIFFERENCE,
    "arith.muli": _product,
    "arith.minsi": _EITHER,
    "arith.maxsi": _EITHER,
    "arith.select": _EITHER,
    "arith.divsi": _QUOTIENT,
    "arith.divui": _binary(_unsigned_quotient, exact=True),
    "arith.floordivsi": _QUOTIENT,
    "arith.ceildivsi": _QUOTIENT,
    "arith.remsi": _REMAINDER,
    "arith.remui": _REMAINDER,
}
