"""Parallel loops: `affine.parallel`.

The loops of one operation are one range of iterations, in lexicographic order, of which each
thread runs parts (see `outlining.py`). A parallel loop inside another one runs sequentially, as do
all when the translation is for one thread, and those with results (in order, so that the result
does not depend on the number of threads).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from llvmlite import ir
from xdsl.dialects import affine
from xdsl.ir import Attribute

from ...dialects.affine.parallel import grouped
from ...dialects.narrow_floats import bits_of, narrow_float
from . import integers
from .affine_expressions import emit_map
from .emitter import Emitters, FunctionEmitter, constant
from .loops import emit_loop
from .narrow_floats import extended, rounded
from .outlining import Range, emit_threads
from .types import value_type
from .values import integer


def emit_parallel(emitter: FunctionEmitter, op: affine.ParallelOp) -> None:
    ranges = _ranges(emitter, op)
    if op.results or emitter.in_parallel or emitter.module.options.num_threads == 1:
        _emit_nest(emitter, op, ranges)
    else:
        emit_threads(emitter, op, ranges)


def _ranges(emitter: FunctionEmitter, op: affine.ParallelOp) -> list[Range]:
    lower_map, upper_map = op.lowerBoundsMap.data, op.upperBoundsMap.data
    operands = emitter.all_values(op.map_operands)
    split = lower_map.num_dims + lower_map.num_symbols
    lower = emit_map(emitter, op, lower_map, operands[:split])
    upper = emit_map(emitter, op, upper_map, operands[split:])
    ranges: list[Range] = []
    for lowers, uppers, step in zip(
        grouped(lower, op.lowerBoundsGroups),
        grouped(upper, op.upperBoundsGroups),
        op.steps,
        strict=True,
    ):
        first = functools.reduce(functools.partial(integers.maximum, emitter), lowers)
        last = functools.reduce(functools.partial(integers.minimum, emitter), uppers)
        distance = integers.subtract(emitter, last, first)
        count = integers.ceil_divide(emitter, distance, step.value.data)
        count = integers.maximum(emitter, count, constant(0))
        ranges.append(Range(first, last, step.value.data, count))
    return ranges


def _emit_nest(emitter: FunctionEmitter, op: affine.ParallelOp, ranges: Sequence[Range]) -> None:
    """Runs all iterations in order and reduces what they yield."""
    block = op.body.block
    combine = [
        _widened(_REDUCTIONS[reduction.data][1], result.type)
        for result, reduction in zip(op.results, op.reductions, strict=True)
    ]

    def nest(dimension: int, partial: list[ir.Value]) -> list[ir.Value]:
        if dimension == len(ranges):
            yielded = emitter.emit_block(block)
            return [
                function(emitter, before, value)
                for function, before, value in zip(combine, partial, yielded, strict=True)
            ]

        def body(index: ir.Value, carried: list[ir.Value]) -> list[ir.Value]:
            emitter.values[block.args[dimension]] = index
            return nest(dimension + 1, carried)

        whole = ranges[dimension]
        vectors = emitter.module.vector_hints.get(block.args[dimension])
        step = constant(whole.step)
        return emit_loop(emitter, whole.lower, whole.upper, step, partial, body, vectors=vectors)

    initial = [
        _neutral(result.type, _REDUCTIONS[reduction.data][0])
        for result, reduction in zip(op.results, op.reductions, strict=True)
    ]
    emitter.values.update(zip(op.results, nest(0, initial), strict=True))


_Combine = Callable[[FunctionEmitter, ir.Value, ir.Value], ir.Value]


def _widened(combine: _Combine, kind: Attribute) -> _Combine:
    """The operation in f32, rounded, for f16 and bf16."""
    narrow = narrow_float(kind)
    if narrow is None:
        return combine

    def rule(emitter: FunctionEmitter, left: ir.Value, right: ir.Value) -> ir.Value:
        wide = (extended(emitter, value, narrow) for value in (left, right))
        return rounded(emitter, combine(emitter, *wide), narrow)

    return rule


def _neutral(type_: Attribute, value: float | str) -> ir.Value:
    narrow, kind = narrow_float(type_), value_type(type_)
    if narrow is not None:
        return integer(kind, bits_of(float(value), narrow))
    if isinstance(kind, ir.IntType):
        return integer(kind, _EXTREMES[value](kind.width) if isinstance(value, str) else int(value))
    return ir.Constant(kind, float(value))


_EXTREMES: dict[str, Callable[[int], int]] = {
    "smallest": lambda bits: -(1 << bits - 1),
    "largest": lambda bits: (1 << bits - 1) - 1,
}


def _instruction(name: str) -> _Combine:
    return lambda emitter, left, right: getattr(emitter.builder, name)(left, right)


def _float_instruction(name: str) -> _Combine:
    def combine(emitter: FunctionEmitter, left: ir.Value, right: ir.Value) -> ir.Value:
        flags = emitter.module.options.fast_math_flags
        return getattr(emitter.builder, name)(left, right, flags=flags)

    return combine


def _intrinsic(name: str) -> _Combine:
    return lambda emitter, left, right: emitter.call_intrinsic(name, [left, right], left.type)


def _last(emitter: FunctionEmitter, left: ir.Value, right: ir.Value) -> ir.Value:
    return right


# The neutral element and the operation of each reduction.
_REDUCTIONS: dict[str, tuple[float | str, _Combine]] = {
    "addf": (-0.0, _float_instruction("fadd")),
    "mulf": (1.0, _float_instruction("fmul")),
    "maximumf": ("-inf", _intrinsic("llvm.maximum")),
    "minimumf": ("inf", _intrinsic("llvm.minimum")),
    "maxnumf": ("nan", _intrinsic("llvm.maxnum")),
    "minnumf": ("nan", _intrinsic("llvm.minnum")),
    "addi": (0, _instruction("add")),
    "muli": (1, _instruction("mul")),
    "andi": (-1, _instruction("and_")),
    "ori": (0, _instruction("or_")),
    "xori": (0, _instruction("xor")),
    "maxs": ("smallest", _intrinsic("llvm.smax")),
    "mins": ("largest", _intrinsic("llvm.smin")),
    "maxu": (0, _intrinsic("llvm.umax")),
    "minu": (-1, _intrinsic("llvm.umin")),
    "assign": (0, _last),
}

EMITTERS: Emitters = {"affine.parallel": emit_parallel}
