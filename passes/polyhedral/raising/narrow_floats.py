"""Arithmetic on f16 and bf16 as arithmetic on f32, rounded after each operation.

                                           %2 = arith.extf %0 : f16 to f32
                                           %3 = arith.extf %1 : f16 to f32
    %4 = arith.addf %0, %1 : f16    ->     %5 = arith.addf %2, %3 : f32
                                           %4 = arith.truncf %5 : f32 to f16

For +, -, *, / and square roots that is the correctly rounded result, as f32 has more than twice the
digits. Loads, stores and choices keep the narrow type.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IntegerType,
    VectorType,
    f32,
    f64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from ....dialects.arith import ExtFOp, TruncFOp
from ....dialects.narrow_floats import narrow_float
from .cells import insert_before

_STORAGE = ("arith.constant", "arith.select", "arith.bitcast")
_FROM_INTEGERS = ("arith.sitofp", "arith.uitofp")
_LONGEST_EXACT = 16
"""Bits of integers that f32 has in any case."""


def widen_narrow_floats(function: Operation) -> None:
    """Rewrites all operations inside of a function, on scalars and vectors, in place."""
    for operation in list(function.walk()):
        widen_operation(operation)


def widen_operation(operation: Operation) -> None:
    """Rewrites an operation of `arith` or `math` that computes in f16 or bf16, in place."""
    if not operation.name.startswith(("arith.", "math.")) or operation.name in _STORAGE:
        return
    kinds = [value.type for value in (*operation.operands, *operation.results)]
    if not any(map(narrow_float, kinds)):
        return
    if isinstance(operation, ExtFOp | TruncFOp):
        _convert(operation)
        return
    operands = [_widened(operand, operation) for operand in operation.operands]
    results = [_computed(result.type, operation) for result in operation.results]
    wide = type(operation).create(
        operands=operands,
        result_types=results,
        properties=operation.properties,
        attributes=operation.attributes,
    )
    wide.location = operation.location
    insert_before(operation, wide)
    for old, new in zip(operation.results, wide.results, strict=True):
        value: SSAValue = new
        if old.type != new.type:
            narrow = TruncFOp(new, old.type)
            narrow.location = operation.location
            insert_before(operation, narrow)
            value = narrow.result
        value.name_hint = old.name_hint
        old.replace_all_uses_with(value)
    operation.detach()
    operation.erase()


def _convert(operation: ExtFOp | TruncFOp) -> None:
    """An extension of a narrow float goes to f32 first; a truncation rounds once."""
    result = operation.results[0]
    if isinstance(operation, ExtFOp):
        value = _widened(operation.operands[0], operation)
        if value.type != result.type:
            longer = ExtFOp(value, result.type)
            insert_before(operation, longer)
            value = longer.result
        value.name_hint = result.name_hint
        result.replace_all_uses_with(value)
        operation.detach()
        operation.erase()


def _widened(value: SSAValue, before: Operation) -> SSAValue:
    if narrow_float(value.type) is None:
        return value
    wide: Operation = ExtFOp(value, _with_element(value.type, f32))
    if isinstance(value.owner, arith.ConstantOp) and isinstance(value.owner.value, FloatAttr):
        wide = arith.ConstantOp(FloatAttr(value.owner.value.value.data, f32))
    insert_before(before, wide)
    return wide.results[0]


def _computed(kind: Attribute, operation: Operation) -> Attribute:
    """The type in which a result is computed: long integers need the digits of f64."""
    if narrow_float(kind) is None:
        return kind
    is_long = operation.name in _FROM_INTEGERS and _bits(operation.operands[0]) > _LONGEST_EXACT
    return _with_element(kind, f64 if is_long else f32)


def _bits(value: SSAValue) -> int:
    """The width of integers."""
    kind = value.type.element_type if isa(value.type, VectorType) else value.type
    return kind.width.data if isa(kind, IntegerType) else 64


def _with_element(kind: Attribute, element: AnyFloat) -> Attribute:
    return VectorType(element, kind.get_shape()) if isa(kind, VectorType) else element
