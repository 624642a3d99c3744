"""Floating-point arithmetic."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import Operation

from .emitter import Emit, Emitters, FunctionEmitter


def flags_of(emitter: FunctionEmitter, op: Operation) -> tuple[str, ...]:
    """The fast-math flags of an operation: its own and those of the translation."""
    own = op.properties.get("fastmath")
    flags = {flag.value for flag in own.data} if isinstance(own, arith.FastMathFlagsAttr) else set()
    return tuple(sorted(flags.union(emitter.module.options.fast_math_flags)))


def _binary(name: str) -> Emit:
    def emit(emitter: FunctionEmitter, op: arith.AddfOp) -> None:
        build = getattr(emitter.builder, name)
        emitter.values[op.result] = build(
            emitter.value(op.lhs), emitter.value(op.rhs), flags=flags_of(emitter, op)
        )

    return emit


EMITTERS: Emitters = {
    "arith.addf": _binary("fadd"),
    "arith.subf": _binary("fsub"),
    "arith.mulf": _binary("fmul"),
    "arith.divf": _binary("fdiv"),
}
