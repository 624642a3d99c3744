"""Construction, extraction, shuffles and reductions of vectors."""

from __future__ import annotations

from llvmlite import ir
from xdsl.dialects import vector
from xdsl.ir import Operation

from ...dialects.errors import SourceError
from ...dialects.vector import ConstantMaskOp
from .emitter import Emitters, FunctionEmitter, constant, type_of
from .floats import flags_of
from .types import I1, I32, I64, scalar_type
from .values import shuffle_mask, splat


def vector_type_of(op: Operation, position: int = 0) -> ir.VectorType:
    """The LLVM type of a result that is a vector."""
    kind = type_of(op.results[position])
    if not isinstance(kind, ir.VectorType):
        raise SourceError.at(op, f"the result of '{op.name}' must be a vector")
    return kind


def emit_broadcast(emitter: FunctionEmitter, op: vector.BroadcastOp) -> None:
    source, kind = emitter.value(op.source), vector_type_of(op)
    if source.type == kind:
        emitter.values[op.vector] = source
        return
    if isinstance(source.type, ir.VectorType):
        if source.type.count != 1:
            raise SourceError.at(op, "only a scalar can be broadcast to a vector")
        source = emitter.builder.extract_element(source, ir.Constant(I32, 0))
    emitter.values[op.vector] = splat(emitter, source, kind.count)


def emit_step(emitter: FunctionEmitter, op: Operation) -> None:
    kind = vector_type_of(op)
    lanes = [constant(lane) for lane in range(kind.count)]
    emitter.values[op.results[0]] = ir.Constant(kind, lanes)


def emit_create_mask(emitter: FunctionEmitter, op: vector.CreateMaskOp) -> None:
    """Lane i is set when i is below the operand, compared in 32 bits to need one instruction."""
    (size,) = emitter.all_values(op.mask_dim_sizes)
    count = vector_type_of(op).count
    builder = emitter.builder
    clamped = emitter.call_intrinsic("llvm.smin", [size, constant(count)], I64)
    clamped = emitter.call_intrinsic("llvm.smax", [clamped, constant(0)], I64)
    lanes = shuffle_mask(tuple(range(count)))
    emitter.values[op.mask_vector] = builder.icmp_unsigned(
        "<", lanes, splat(emitter, builder.trunc(clamped, I32), count)
    )


def emit_constant_mask(emitter: FunctionEmitter, op: ConstantMaskOp) -> None:
    (size,) = op.mask_dim_sizes.get_values()
    kind = vector_type_of(op)
    lanes = [ir.Constant(I1, int(lane < size)) for lane in range(kind.count)]
    emitter.values[op.mask] = ir.Constant(kind, lanes)


def _position(emitter: FunctionEmitter, op: vector.ExtractOp | vector.InsertOp) -> ir.Value:
    positions = op.get_mixed_position()
    if len(positions) != 1:
        raise SourceError.at(op, "the position must be one number")
    (position,) = positions
    return constant(position) if isinstance(position, int) else emitter.value(position)


def emit_extract(emitter: FunctionEmitter, op: vector.ExtractOp) -> None:
    emitter.values[op.result] = emitter.builder.extract_element(
        emitter.value(op.vector), _position(emitter, op)
    )


def emit_insert(emitter: FunctionEmitter, op: vector.InsertOp) -> None:
    emitter.values[op.result] = emitter.builder.insert_element(
        emitter.value(op.dest), emitter.value(op.source), _position(emitter, op)
    )


def emit_shuffle(emitter: FunctionEmitter, op: vector.ShuffleOp) -> None:
    """-1 in the mask leaves a lane undefined; it takes the first element here."""
    lanes = tuple(max(0, lane) for lane in op.mask.get_values())
    emitter.values[op.result] = emitter.builder.shuffle_vector(
        emitter.value(op.v1), emitter.value(op.v2), shuffle_mask(lanes)
    )


# The intrinsic that reduces a vector, and the operation that combines its result with `acc`.
_REDUCTIONS = {
    "mul": ("mul", "mul"),
    "and": ("and", "and_"),
    "or": ("or", "or_"),
    "xor": ("xor", "xor"),
    "add": ("add", "add"),
    "minui": ("umin", "llvm.umin"),
    "maxui": ("umax", "llvm.umax"),
    "minsi": ("smin", "llvm.smin"),
    "maxsi": ("smax", "llvm.smax"),
    "minnumf": ("fmin", "llvm.minnum"),
    "maxnumf": ("fmax", "llvm.maxnum"),
    "minimumf": ("fminimum", "llvm.minimum"),
    "maximumf": ("fmaximum", "llvm.maximum"),
}
# Sums and products of floats start with a value, and go from lane to lane in order unless the
# operation may be reassociated.
_ORDERED_REDUCTIONS = {"add": ("fadd", -0.0), "mul": ("fmul", 1.0)}


def emit_reduction(emitter: FunctionEmitter, op: vector.ReductionOp) -> None:
    operand = emitter.value(op.vector)
    scalar, kind = scalar_type(operand.type), op.kind.data.value
    start = emitter.value(op.acc) if op.acc is not None else None
    floating = not isinstance(scalar, ir.IntType)
    flags = flags_of(emitter, op) if floating else ()
    if floating and kind in _ORDERED_REDUCTIONS:
        name, neutral = _ORDERED_REDUCTIONS[kind]
        emitter.values[op.dest] = emitter.call_intrinsic(
            f"llvm.vector.reduce.{name}",
            [start or ir.Constant(scalar, neutral), operand],
            scalar,
            [operand.type],
            flags,
        )
        return
    name, combine = _REDUCTIONS[kind]
    result = emitter.call_intrinsic(
        f"llvm.vector.reduce.{name}", [operand], scalar, [operand.type], flags
    )
    if start is not None and combine.startswith("llvm."):
        result = emitter.call_intrinsic(combine, [start, result], scalar, flags=flags)
    elif start is not None:
        result = getattr(emitter.builder, combine)(start, result)
    emitter.values[op.dest] = result


EMITTERS: Emitters = {
    "vector.broadcast": emit_broadcast,
    "vector.step": emit_step,
    "vector.create_mask": emit_create_mask,
    "vector.constant_mask": emit_constant_mask,
    "vector.extract": emit_extract,
    "vector.insert": emit_insert,
    "vector.shuffle": emit_shuffle,
    "vector.reduction": emit_reduction,
}
