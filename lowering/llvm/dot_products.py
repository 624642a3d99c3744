"""Sums of two products of short integers, for which processors have one operation (`pmaddwd`).

    %2 = %sum + ext %a * ext %b              pairs of 16 bits: a, c and b, d
    %3 = %2 + ext %c * ext %d         ->     %3 = %sum + pmaddwd (a, c), (b, d)

The products are exact in 32 bits, and their sum wraps around as that of the two additions does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from llvmlite import ir
from xdsl.dialects import arith, vector
from xdsl.ir import Operation, SSAValue

from ...dialects.arith import ExtSIOp, ExtUIOp
from ...dialects.vector import is_vector
from ...passes.polyhedral.integer_ranges import integer_width
from .values import integer, splat

if TYPE_CHECKING:
    from .emitter import FunctionEmitter

_SHORT, _WIDE = 16, 32

_INTRINSICS = {
    4: ("sse2", "llvm.x86.sse2.pmadd.wd"),
    8: ("avx2", "llvm.x86.avx2.pmadd.wd"),
    16: ("avx512bw", "llvm.x86.avx512.pmaddw.d.512"),
}
"""By the lanes of the sum: the feature of the target, and LLVM's name."""

_Factors = tuple[SSAValue, SSAValue]


@dataclass(frozen=True)
class DotProduct:
    """`start` plus two products of values that 16 bits hold."""

    start: SSAValue
    first: _Factors
    second: _Factors


def emit_dot_product(emitter: FunctionEmitter, op: arith.AddiOp) -> bool:
    """An addition that adds the second of two products, if the target has an operation for both."""
    kind = op.result.type
    if not is_vector(kind) or integer_width(kind) != _WIDE:
        return False
    feature, intrinsic = _INTRINSICS.get(kind.get_shape()[0], ("", ""))
    if feature not in emitter.module.target.features:
        return False
    found = dot_product(op)
    if found is None:
        return False
    (a, b), (c, d) = found.first, found.second
    wide = emitter.value(op.lhs).type
    operands = [_pairs(emitter, a, c), _pairs(emitter, b, d)]
    products = emitter.call_intrinsic(intrinsic, operands, wide, [])
    emitter.values[op.result] = emitter.builder.add(emitter.value(found.start), products)
    return True


def dot_product(op: arith.AddiOp) -> DotProduct | None:
    """The two products of a sum that an addition completes; None where it is no such sum."""
    found = _two_products(op)
    if found is None:
        return None
    users = [use.operation for use in op.result.uses]
    if len(users) == 1 and isinstance(users[0], arith.AddiOp) and dot_product(users[0]):
        return None
    return found


def _two_products(op: arith.AddiOp) -> DotProduct | None:
    for second, rest in _terms(op):
        inner = rest.owner
        if not isinstance(inner, arith.AddiOp) or len(list(rest.uses)) != 1:
            continue
        for first, start in _terms(inner):
            left, right = _factors(first), _factors(second)
            if left is not None and right is not None:
                # Like goes with like: what is broadcast, and what is loaded as a vector.
                if _is_broadcast(left[0]) != _is_broadcast(right[0]):
                    right = right[1], right[0]
                return DotProduct(start, left, right)
    return None


def _terms(op: arith.AddiOp) -> Iterator[tuple[arith.MuliOp, SSAValue]]:
    """The operands of an addition that are products, each with the other one."""
    for product, other in ((op.rhs, op.lhs), (op.lhs, op.rhs)):
        if isinstance(product.owner, arith.MuliOp):
            yield product.owner, other


def _factors(product: Operation) -> _Factors | None:
    left, right = product.operands
    return (left, right) if _is_short(left) and _is_short(right) else None


def _is_short(value: SSAValue) -> bool:
    """Whether 16 bits hold a value."""
    owner = value.owner
    if isinstance(owner, vector.BroadcastOp):
        return _is_short(owner.source)
    if not isinstance(owner, ExtSIOp | ExtUIOp):
        return False
    bits = integer_width(owner.operands[0].type)
    return bits is not None and bits <= _SHORT - isinstance(owner, ExtUIOp)


def _is_broadcast(value: SSAValue) -> bool:
    return isinstance(value.owner, vector.BroadcastOp)


def _pairs(emitter: FunctionEmitter, low: SSAValue, high: SSAValue) -> ir.Value:
    """Lane by lane the two values as neighbouring 16 bits."""
    kind = emitter.value(low).type
    assert isinstance(kind, ir.VectorType)
    lanes = kind.count
    if isinstance(low.owner, vector.BroadcastOp) and isinstance(high.owner, vector.BroadcastOp):
        pair = _joined(emitter, emitter.value(low.owner.source), emitter.value(high.owner.source))
        pair = splat(emitter, pair, lanes)
    else:
        pair = _joined(emitter, emitter.value(low), emitter.value(high))
    return emitter.builder.bitcast(pair, ir.VectorType(ir.IntType(_SHORT), 2 * lanes))


def _joined(emitter: FunctionEmitter, low: ir.Value, high: ir.Value) -> ir.Value:
    builder = emitter.builder
    low = builder.and_(low, integer(low.type, (1 << _SHORT) - 1))
    return builder.or_(low, builder.shl(high, integer(high.type, _SHORT)))
