"""IEEE 754-2019 minimum and maximum on x86, whose own instructions lose NaN and the sign of zeros.

    minimum %a, %b    ->    (a < b ? a : b) | (b < a ? b : a)                       minps, minps, or

Both halves are equal but for zeros, whose signs are joined, and for NaN: each half keeps the NaN of
its second operand (`minps`), and a NaN stays one whatever its other bits are. That takes 3 cycles
of a chain where LLVM's own sequence takes 10 or more.
"""

from __future__ import annotations

from collections.abc import Iterator

from llvmlite import ir
from xdsl.dialects import affine
from xdsl.ir import Block, Operation, SSAValue

from .emitter import Emit, Emitters, FunctionEmitter
from .floats import flags_of
from .types import scalar_type, size_in_bytes
from .unrolling import LOOPS, linear_results


def _extremum(intrinsic: str, comparison: str) -> Emit:
    """Emits an operation that is an intrinsic elsewhere; the comparison holds for its result."""

    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        left, right = emitter.all_values(op.operands)
        flags = flags_of(emitter, op)
        # LLVM has short sequences for constants, and makes vectors of accumulated intrinsics.
        is_simple = "nnan" in flags or "fast" in flags or _is_accumulated(op)
        is_known = isinstance(left, ir.Constant) or isinstance(right, ir.Constant)
        if "sse2" not in emitter.module.target.features or is_simple or is_known:
            value = emitter.call_intrinsic(intrinsic, [left, right], left.type, flags=flags)
        else:
            one = _selected(emitter, comparison, left, right)
            other = _selected(emitter, comparison, right, left)
            if comparison == "<":
                value = _joined(emitter, one, other)
            else:
                value = _met(emitter, one, other, left, right)
        emitter.values[op.results[0]] = value

    return emit


def _selected(
    emitter: FunctionEmitter, comparison: str, first: ir.Value, second: ir.Value
) -> ir.Value:
    """One instruction of the processor: the first where it compares so, else the second."""
    holds = emitter.builder.fcmp_ordered(comparison, first, second)
    return emitter.builder.select(holds, first, second)


def _joined(emitter: FunctionEmitter, one: ir.Value, other: ir.Value) -> ir.Value:
    """The minimum: -0 where one half is."""
    builder, bits = emitter.builder, _bits(one.type)
    joined = builder.or_(builder.bitcast(one, bits), builder.bitcast(other, bits))
    return builder.bitcast(joined, one.type)


def _met(
    emitter: FunctionEmitter, one: ir.Value, other: ir.Value, left: ir.Value, right: ir.Value
) -> ir.Value:
    """The maximum: -0 where both halves are, and NaN where one operand is."""
    builder, bits = emitter.builder, _bits(one.type)
    met = builder.and_(builder.bitcast(one, bits), builder.bitcast(other, bits))
    if "avx512f" in emitter.module.target.features:
        # All of it but the and, the or is one ternary operation.
        joined = _joined(emitter, one, other)
        signs = builder.bitcast(met, one.type)
        return emitter.call_intrinsic("llvm.copysign", [joined, signs], one.type)
    is_nan = builder.sext(builder.fcmp_unordered("uno", left, right), bits)
    return builder.bitcast(builder.or_(met, is_nan), one.type)


def _bits(kind: ir.Type) -> ir.Type:
    """Integers as wide as floats."""
    scalar = ir.IntType(8 * size_in_bytes(scalar_type(kind)))
    return ir.VectorType(scalar, kind.count) if isinstance(kind, ir.VectorType) else scalar


def _is_accumulated(op: Operation) -> bool:
    """Whether a loop does nothing with the result but hand it on to the same operation.

    In an argument of its body, or in a place that is the same in all iterations.
    """
    block = op.parent
    if block is None or (loop := block.parent_op()) is None or loop.name not in LOOPS:
        return False
    result = op.results[0]
    while (user := _only_user(result)) is not None and user.name == op.name:
        result = user.results[0]
    if user is None or user.parent is not block:
        return False
    terms = list(_terms(result, op.name))
    if isinstance(user, affine.YieldOp) and isinstance(loop, affine.ForOp):
        position = list(user.operands).index(result)
        return loop.body.block.args[1 + position] in terms
    return isinstance(user, affine.StoreOp) and any(
        isinstance(term.owner, affine.LoadOp) and _is_one_place(term.owner, user, block)
        for term in terms
    )


def _only_user(value: SSAValue) -> Operation | None:
    users = [use.operation for use in value.uses]
    return users[0] if len(users) == 1 else None


def _terms(value: SSAValue, name: str) -> Iterator[SSAValue]:
    """What operations of one name combine into a value."""
    if isinstance(value.owner, Operation) and value.owner.name == name:
        for operand in value.owner.operands:
            yield from _terms(operand, name)
    else:
        yield value


def _is_one_place(load: affine.LoadOp, store: affine.StoreOp, block: Block) -> bool:
    """Whether a loop loads and stores one element again and again."""
    place = linear_results(load.map.data, load.indices)
    return (
        load.memref is store.memref
        and place == linear_results(store.map.data, store.indices)
        and not any(argument in result for argument in block.args for result in place)
    )


EMITTERS: Emitters = {
    "arith.maximumf": _extremum("llvm.maximum", ">"),
    "arith.minimumf": _extremum("llvm.minimum", "<"),
}
