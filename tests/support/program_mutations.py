"""Mutants of a program: each a copy with one change, most of which change what it computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count

from xdsl.dialects import arith
from xdsl.dialects.affine import ForOp, LoadOp, StoreOp
from xdsl.dialects.builtin import AffineMapAttr, FloatAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

Change = tuple[str, Callable[[], None]]

# What an operation is taken for; operands of the others change places.
_OTHER_OPERATIONS: dict[type[Operation], type[Operation]] = {
    arith.AddfOp: arith.SubfOp,
    arith.MulfOp: arith.AddfOp,
    arith.AddiOp: arith.SubiOp,
    arith.MuliOp: arith.AddiOp,
    arith.MinSIOp: arith.MaxSIOp,
    arith.MaxSIOp: arith.MinSIOp,
}
_NOT_COMMUTATIVE = (arith.SubfOp, arith.DivfOp, arith.SubiOp)


def mutants(module: ModuleOp) -> Iterator[tuple[str, ModuleOp]]:
    """Every mutant, with what was done."""
    for number in count():
        copy = module.clone()
        changes = list(_changes(copy))
        if number >= len(changes):
            return
        what, change = changes[number]
        change()
        yield what, copy


def _changes(module: ModuleOp) -> Iterator[Change]:
    for operation in list(module.walk()):
        match operation:
            case ForOp():
                yield from _of_loop(operation)
            case LoadOp() | StoreOp():
                yield from _of_access(operation)
            case arith.ConstantOp(value=FloatAttr()):
                yield "constant", lambda op=operation: _add_to_constant(op)
            case _:
                yield from _of_arithmetic(operation)
        yield from _order(operation)


def _of_loop(loop: ForOp) -> Iterator[Change]:
    for name in ("lowerBoundMap", "upperBoundMap"):
        for step in (-1, 1):
            yield f"{name} {step:+}", lambda name=name, step=step: _shift(loop, name, 0, step)
    inner = loop.body.block.first_op
    if isinstance(inner, ForOp) and inner.next_op is loop.body.block.last_op:
        bounds = (*inner.lowerBoundOperands, *inner.upperBoundOperands)
        if loop.body.block.args[0] not in bounds:
            yield "interchange", lambda: _interchange(loop, inner)


def _of_access(access: LoadOp | StoreOp) -> Iterator[Change]:
    map_ = _map(access, "map")
    for position in range(len(map_.results)):
        for step in (-1, 1):
            yield (
                f"subscript {position} {step:+}",
                lambda position=position, step=step: _shift(access, "map", position, step),
            )
    if len(map_.results) == 2:
        yield "subscripts swapped", lambda: _set_results(access, "map", map_.results[::-1])
    if isinstance(access, StoreOp):
        yield "store removed", lambda: _erase(access)


def _of_arithmetic(operation: Operation) -> Iterator[Change]:
    if isinstance(operation, _NOT_COMMUTATIVE):
        yield "operands swapped", lambda: _swap_operands(operation)
    if type(operation) in _OTHER_OPERATIONS:
        yield "other operation", lambda: _replace(operation, _OTHER_OPERATIONS[type(operation)])
    if operation.name.startswith("arith."):
        for position, operand in enumerate(operation.operands):
            other = _earlier_value(operation, operand)
            if other is not None:
                yield (
                    f"operand {position}",
                    lambda position=position, other=other: _set_operand(operation, position, other),
                )


def _order(operation: Operation) -> Iterator[Change]:
    """A loop or store with the next one behind."""
    following = operation.next_op
    if isinstance(operation, ForOp) and isinstance(following, ForOp):
        yield "loops swapped", partial(_move_behind, operation, following)
    if isinstance(operation, StoreOp):
        while following is not None and not isinstance(following, StoreOp | ForOp):
            following = following.next_op
        if following is not None:
            yield "store moved", partial(_move_behind, operation, following)


def _map(operation: Operation, name: str) -> AffineMap:
    attribute = operation.properties[name]
    assert isinstance(attribute, AffineMapAttr)
    return attribute.data


def _set_results(operation: Operation, name: str, results: Sequence[AffineExpr]) -> None:
    map_ = _map(operation, name)
    changed = AffineMap(map_.num_dims, map_.num_symbols, tuple(results))
    operation.properties[name] = AffineMapAttr(changed)


def _shift(operation: Operation, name: str, position: int, step: int) -> None:
    results = list(_map(operation, name).results)
    results[position] = results[position] + step
    _set_results(operation, name, results)


def _interchange(outer: ForOp, inner: ForOp) -> None:
    """What runs in the outer loop now runs in the inner one, and the other way round."""
    for name in ("lowerBoundMap", "upperBoundMap"):
        outer.properties[name], inner.properties[name] = (
            inner.properties[name],
            outer.properties[name],
        )
    outer_segments = outer.properties["operandSegmentSizes"]
    outer.properties["operandSegmentSizes"] = inner.properties["operandSegmentSizes"]
    inner.properties["operandSegmentSizes"] = outer_segments
    outer.operands, inner.operands = list(inner.operands), list(outer.operands)
    one, two = outer.body.block.args[0], inner.body.block.args[0]
    uses = list(one.uses), list(two.uses)
    for found, value in zip(uses, (two, one), strict=True):
        for use in found:
            use.operation.operands[use.index] = value


def _add_to_constant(constant: arith.ConstantOp) -> None:
    value = constant.value
    assert isinstance(value, FloatAttr)
    constant.properties["value"] = FloatAttr(value.value.data + 1.0, value.type)


def _swap_operands(operation: Operation) -> None:
    operation.operands = list(operation.operands)[::-1]


def _replace(operation: Operation, other: type[Operation]) -> None:
    new = other.create(
        operands=operation.operands,
        result_types=[result.type for result in operation.results],
        properties=operation.properties,
    )
    assert operation.parent is not None
    operation.parent.insert_op_before(new, operation)
    for old, result in zip(operation.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    _erase(operation)


def _earlier_value(operation: Operation, operand: SSAValue) -> SSAValue | None:
    """Another value of the type that the same block has computed before."""
    found = None
    assert operation.parent is not None
    for other in operation.parent.ops:
        if other is operation:
            break
        for result in other.results:
            if result.type == operand.type and result is not operand:
                found = result
    return found


def _set_operand(operation: Operation, position: int, value: SSAValue) -> None:
    operation.operands[position] = value


def _erase(operation: Operation) -> None:
    operation.detach()
    operation.erase()


def _move_behind(operation: Operation, other: Operation) -> None:
    block = other.parent
    assert block is not None
    operation.detach()
    block.insert_op_after(operation, other)
