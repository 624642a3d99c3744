"""Floating-point arithmetic, on scalars and vectors."""

from __future__ import annotations

from llvmlite import ir
from xdsl.dialects import arith
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Operation, SSAValue

from ...passes.polyhedral.fused_products import fused_operand, fused_product
from .emitter import Emit, Emitters, FunctionEmitter
from .reciprocal_roots import quotient
from .recurrence_heights import CarriedSum, carried_sum
from .types import I1
from .values import splat

_LONG = 6
"""Sums of so many products are kept in their order."""


def flags_of(emitter: FunctionEmitter, op: Operation) -> tuple[str, ...]:
    """The fast-math flags of an operation: its own and those of the translation."""
    own = op.properties.get("fastmath")
    flags = set(emitter.module.options.fast_math_flags)
    if isinstance(own, arith.FastMathFlagsAttr):
        flags.update(flag.value for flag in own.data)
    if "reassoc" in flags and _is_in_long_sum_of_products(op):
        flags.discard("reassoc")
    return tuple(sorted(flags))


def _is_in_long_sum_of_products(op: Operation) -> bool:
    """Whether a vector addition is one of many that sum up products.

    LLVM sorts the terms of each sum by a rank of its own: sums that share factors then need them at
    different times, and registers do not suffice.
    """
    if not isinstance(op, arith.AddfOp) or not isinstance(op.result.type, VectorType):
        return False
    length, first, last = 0, op, op
    while (
        length < _LONG
        and isinstance(first, arith.AddfOp)
        and (rest := _beside_product(first)) is not None
    ):
        length, first = length + 1, rest.owner
    while 0 < length < _LONG and (last := _next_sum(last)) is not None:
        length += 1
    return length >= _LONG


def _beside_product(op: arith.AddfOp) -> SSAValue | None:
    """What a product is added to."""
    for term, rest in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        if isinstance(term.owner, arith.MulfOp):
            return rest
    return None


def _next_sum(op: arith.AddfOp) -> arith.AddfOp | None:
    """The addition of another product that alone uses an addition."""
    use = op.result.get_user_of_unique_use()
    return use if isinstance(use, arith.AddfOp) and _beside_product(use) is not None else None


def _instruction(name: str) -> Emit:
    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        build = getattr(emitter.builder, name)
        operands = emitter.all_values(op.operands)
        emitter.values[op.results[0]] = build(*operands, flags=flags_of(emitter, op))

    return emit


def emit_divf(emitter: FunctionEmitter, op: arith.DivfOp) -> None:
    emitter.values[op.result] = quotient(emitter, op, flags_of(emitter, op))


def _addition(name: str) -> Emit:
    """An addition or subtraction, fused with a product where the program is."""
    separate = _instruction(name)

    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        assert isinstance(op, arith.AddfOp | arith.SubfOp)
        flags = flags_of(emitter, op)
        found = carried_sum(op) if "reassoc" in flags else None
        if found is not None:
            emitter.values[op.result] = _carried(emitter, found, flags)
            return
        position = fused_operand(op) if emitter.module.fuses_products else None
        if position is None:
            separate(emitter, op)
            return
        product = fused_product(op, position)
        assert product is not None, "it is what fused_operand has found"
        other = emitter.value(op.operands[1 - position])
        left, right = (_in_lanes(emitter, each, other.type) for each in product.operands)
        if isinstance(op, arith.SubfOp):
            if position == 0:
                other = emitter.builder.fneg(other)
            else:
                left = emitter.builder.fneg(left)
        emitter.values[op.results[0]] = emitter.call_intrinsic(
            "llvm.fma", [left, right, other], other.type, flags=flags_of(emitter, op)
        )

    return emit


def _carried(emitter: FunctionEmitter, found: CarriedSum, flags: tuple[str, ...]) -> ir.Value:
    """A sum with its carried term last, which LLVM leaves there."""
    (first, _), *rest = found.others
    others = emitter.value(first)
    for term, is_subtracted in rest:
        build = emitter.builder.fsub if is_subtracted else emitter.builder.fadd
        others = build(others, emitter.value(term), flags=flags)
    kept = tuple(each for each in flags if each not in ("reassoc", "fast"))
    return emitter.builder.fadd(emitter.value(found.carried), others, flags=kept)


def _in_lanes(emitter: FunctionEmitter, operand: SSAValue, kind: ir.Type) -> ir.Value:
    """A factor as a value of the type of the sum."""
    value = emitter.value(operand)
    if isinstance(kind, ir.VectorType) and not isinstance(value.type, ir.VectorType):
        return splat(emitter, value, kind.count)
    return value


def float_intrinsic(name: str) -> Emit:
    """An operation that is an intrinsic on operands of one type."""

    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        operands = emitter.all_values(op.operands)
        emitter.values[op.results[0]] = emitter.call_intrinsic(
            name, operands, operands[0].type, flags=flags_of(emitter, op)
        )

    return emit


# In the order of MLIR's predicates; the first and the last are constants.
_PREDICATES = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)
_SYMBOLS = {"eq": "==", "ne": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}


def emit_cmpf(emitter: FunctionEmitter, op: arith.CmpfOp) -> None:
    predicate = _PREDICATES[op.predicate.value.data]
    left, right = emitter.value(op.lhs), emitter.value(op.rhs)
    builder = emitter.builder
    if predicate in ("false", "true"):
        kind = ir.VectorType(I1, left.type.count) if isinstance(left.type, ir.VectorType) else I1
        emitter.values[op.result] = ir.Constant(kind, int(predicate == "true"))
        return
    # Contraction and reassociation mean nothing to a comparison; only its own flags count.
    own = op.fastmath.data
    flags = sorted(flag.value for flag in own)
    compare = builder.fcmp_unordered if predicate.startswith("u") else builder.fcmp_ordered
    emitter.values[op.result] = compare(
        _SYMBOLS.get(predicate[1:], predicate), left, right, flags=flags
    )


EMITTERS: Emitters = {
    "arith.addf": _addition("fadd"),
    "arith.subf": _addition("fsub"),
    "arith.mulf": _instruction("fmul"),
    "arith.divf": emit_divf,
    "arith.remf": _instruction("frem"),
    "arith.negf": _instruction("fneg"),
    "arith.maxnumf": float_intrinsic("llvm.maxnum"),
    "arith.minnumf": float_intrinsic("llvm.minnum"),
    "arith.cmpf": emit_cmpf,
}
