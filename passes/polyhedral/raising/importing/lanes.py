"""Emission of what is computed for each lane of a vector."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import (
    IndexType,
    IntegerType,
    TensorType,
    i1,
)
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.hints import isa

from .....dialects.affine import ForOp, YieldOp
from .....dialects.errors import SourceError
from .....dialects.tensor import GenerateOp
from ..cells import insert_before
from .emission import erase, index_value
from .globals import scalar_constant

Lanes = Sequence[SSAValue]
Element = Callable[[Operation, Lanes], SSAValue]
"""What emits an element before an operation, for the subscripts of a lane."""

_Kind = CombiningKindFlag

_FLOATS: Mapping[CombiningKindFlag, type[Operation]] = {
    _Kind.ADD: arith.AddfOp,
    _Kind.MUL: arith.MulfOp,
    _Kind.MAXIMUMF: arith.MaximumfOp,
    _Kind.MAXNUMF: arith.MaxnumfOp,
    _Kind.MINIMUMF: arith.MinimumfOp,
    _Kind.MINNUMF: arith.MinnumfOp,
}
_INTEGERS: Mapping[CombiningKindFlag, type[Operation]] = {
    _Kind.ADD: arith.AddiOp,
    _Kind.MUL: arith.MuliOp,
    _Kind.AND: arith.AndIOp,
    _Kind.OR: arith.OrIOp,
    _Kind.XOR: arith.XOrIOp,
    _Kind.MAXSI: arith.MaxSIOp,
    _Kind.MAXUI: arith.MaxUIOp,
    _Kind.MINSI: arith.MinSIOp,
    _Kind.MINUI: arith.MinUIOp,
}
_NEUTRAL = {_Kind.ADD: 0, _Kind.MUL: 1, _Kind.AND: -1, _Kind.OR: 0, _Kind.XOR: 0}


def tensor_type(value: SSAValue) -> TensorType[Attribute]:
    """The type of a vector, which is that of a tensor by now."""
    kind = value.type
    assert isa(kind, TensorType[Attribute])
    return kind


def generate(operation: Operation, element: Element) -> None:
    """Replaces an operation with one vector as its result by its elements."""
    (result,) = operation.results
    kind = tensor_type(result)
    block = Block(arg_types=[IndexType()] * len(kind.get_shape()))
    _fill(block, operation, lambda end: element(end, list(block.args)), tensor.YieldOp)
    new = GenerateOp([], Region(block), kind)
    insert_before(operation, new)
    new.result.name_hint = result.name_hint
    result.replace_all_uses_with(new.result)


def _fill(
    block: Block,
    operation: Operation,
    value: Callable[[Operation], SSAValue],
    last: Callable[[SSAValue], Operation],
) -> None:
    """Emits a value into an empty block, and its terminator."""
    end = YieldOp.get()
    end.location = operation.location
    block.add_op(end)
    insert_before(end, last(value(end)))
    erase(end)


def element_of(anchor: Operation, vector: SSAValue, lanes: Lanes) -> SSAValue:
    """An element of a vector; a number is its own."""
    if not isa(vector.type, TensorType[Attribute]):
        return vector
    extract = tensor.ExtractOp(vector, list(lanes), vector.type.element_type)
    insert_before(anchor, extract)
    return extract.result


def plus(anchor: Operation, one: SSAValue, other: SSAValue) -> SSAValue:
    """The sum of two subscripts."""
    total = arith.AddiOp(one, other)
    insert_before(anchor, total)
    return total.result


def compare(anchor: Operation, how: str, one: SSAValue, other: SSAValue | int) -> SSAValue:
    """A comparison of subscripts."""
    right = other if isinstance(other, SSAValue) else index_value(anchor, other)
    comparison = arith.CmpiOp(one, right, how)
    insert_before(anchor, comparison)
    return comparison.result


def all_of(anchor: Operation, conditions: Sequence[SSAValue]) -> SSAValue | None:
    """Whether all conditions hold; None without any."""
    result: SSAValue | None = None
    for condition in conditions:
        if result is None:
            result = condition
        else:
            both = arith.AndIOp(result, condition)
            insert_before(anchor, both)
            result = both.result
    return result


def choose(
    anchor: Operation,
    condition: SSAValue | None,
    then: Callable[[Operation], SSAValue],
    otherwise: Callable[[Operation], SSAValue],
) -> SSAValue:
    """One of two values, of which only the chosen one is computed."""
    if condition is None:
        return then(anchor)
    assert condition.type == i1
    blocks = [Block(), Block()]
    for block, value in zip(blocks, (then, otherwise), strict=True):
        _fill(block, anchor, value, scf.YieldOp)
    end = blocks[0].last_op
    assert end is not None
    branch = scf.IfOp(condition, [end.operands[0].type], [blocks[0]], [blocks[1]])
    insert_before(anchor, branch)
    return branch.results[0]


def perform(
    anchor: Operation, condition: SSAValue | None, action: Callable[[Operation], None]
) -> None:
    """Something that happens under a condition."""
    if condition is None:
        action(anchor)
        return
    block = Block([end := scf.YieldOp()])
    end.location = anchor.location
    action(end)
    insert_before(anchor, scf.IfOp(condition, [], [block]))


def fold(
    anchor: Operation,
    extents: Sequence[int],
    initial: SSAValue,
    step: Callable[[Operation, Lanes, SSAValue], SSAValue],
    lanes: Lanes = (),
) -> SSAValue:
    """A value that loops carry from lane to lane, in order."""
    if not extents:
        return step(anchor, lanes, initial)
    block = Block(arg_types=[IndexType(), initial.type])
    variable, carried = block.args

    def inner(end: Operation) -> SSAValue:
        return fold(end, extents[1:], carried, step, [*lanes, variable])

    _fill(block, anchor, inner, YieldOp.get)
    loop = ForOp.from_region([], [], [initial], [initial.type], 0, extents[0], Region(block))
    insert_before(anchor, loop)
    return loop.results[0]


def combine(anchor: Operation, kind: CombiningKindAttr, one: SSAValue, other: SSAValue) -> SSAValue:
    """Two values, combined as a reduction does."""
    is_integer = isinstance(one.type, IntegerType | IndexType)
    make = (_INTEGERS if is_integer else _FLOATS).get(kind.data)
    if make is None:
        raise SourceError.at(anchor, f"'{kind.data}' does not combine values of type {one.type}")
    new = make.create(operands=[one, other], result_types=[one.type])
    if not is_integer:
        new.properties["fastmath"] = arith.FastMathFlagsAttr("none")
    insert_before(anchor, new)
    return new.results[0]


def neutral(anchor: Operation, kind: CombiningKindAttr, value: SSAValue) -> SSAValue:
    """What a reduction of numbers such as `value` begins with: one of them for the extremes."""
    number = _NEUTRAL.get(kind.data)
    if number is None:
        return value
    element = value.type
    constant = scalar_constant(number, element)
    insert_before(anchor, constant)
    return constant.result
