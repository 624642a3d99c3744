"""Powers: those with known exponents may be products and square roots."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import inf, nan
from typing import cast

from llvmlite import ir

from .emitter import FunctionEmitter
from .reciprocal_roots import reciprocal_root

_LARGEST_EXPONENT = 32

_EXACT_EXPONENTS = (-1.0, 0.0, 0.5, 1.0, 2.0)

_LARGEST_OF_ROOTS = 8
"""The largest exponent that is no multiple of one half, or negative and no integer."""


def is_expanded(exponent: ir.Value, *, approximate: bool) -> bool:
    """Whether a power becomes products and square roots.

    With an integer, a positive multiple of one half or a small multiple of one quarter as exponent,
    where it may be approximated; else with those exponents that take one rounding.
    """
    if not isinstance(exponent, ir.Constant):
        return False
    values = _elements(exponent)
    if not approximate:
        return all(value in _EXACT_EXPONENTS for value in values)
    return all(_is_known_to_llvm(value) or _has_roots(value) for value in values)


def _is_known_to_llvm(exponent: float) -> bool:
    if abs(exponent) > _LARGEST_EXPONENT:
        return False
    return exponent.is_integer() or (exponent > 0 and (2 * exponent).is_integer())


def _has_roots(exponent: float) -> bool:
    return abs(exponent) <= _LARGEST_OF_ROOTS and (4 * exponent).is_integer()


def power(emitter: FunctionEmitter, operands: Sequence[ir.Value], flags: Sequence[str]) -> ir.Value:
    """Approximated only where that makes products and roots.

    LLVM makes calls of `__powidf2` of approximate powers with integers as exponents, wherever it
    sees these, and that function is in no library that code is linked to.
    """
    base, exponent = operands
    if not is_expanded(exponent, approximate=True):
        flags = [flag for flag in flags if flag not in ("afn", "fast")]
    elif (
        "afn" in flags
        and isinstance(exponent, ir.Constant)
        and len(values := set(_elements(exponent))) == 1
    ):
        (value,) = values
        if value == -0.5:
            base, flags = _without_negative_zero(emitter, base, flags)
            return _of_lowest(emitter, base, reciprocal_root(emitter, base, flags), 0.0)
        if not _is_known_to_llvm(value):
            of_lowest = inf if value > 0 else 0.0
            return _of_lowest(emitter, base, _of_roots(emitter, base, value, flags), of_lowest)
        if value > 0 and value % 1 == 0.5:
            result = emitter.call_intrinsic("llvm.pow", operands, base.type, flags=flags)
            return _of_lowest(emitter, base, result, inf)
    return emitter.call_intrinsic("llvm.pow", operands, base.type, flags=flags)


def _of_roots(
    emitter: FunctionEmitter, base: ir.Value, exponent: float, flags: Sequence[str]
) -> ir.Value:
    """x^(n + k/4) as x^n times the square roots that make x^(k/4); LLVM only does k = 2.

    Of a negative exponent, the reciprocal: that is an exact division, as estimates of reciprocals
    make NaN of zero.
    """
    builder, kind = emitter.builder, base.type
    if exponent < 0:
        base, flags = _without_negative_zero(emitter, base, flags)
    whole, part = divmod(abs(exponent), 1)
    half = emitter.call_intrinsic("llvm.sqrt", [base], kind, flags=flags)
    factors: list[ir.Value] = [half] if part >= 0.5 else []
    if part != 0.5:
        factors.append(emitter.call_intrinsic("llvm.sqrt", [half], kind, flags=flags))
    remaining, square = int(whole), base
    while remaining:
        if remaining % 2:
            factors.append(square)
        remaining //= 2
        square = builder.fmul(square, square, flags=flags) if remaining else square
    result = reduce(lambda one, other: builder.fmul(one, other, flags=flags), factors)
    return builder.fdiv(ir.Constant(kind, 1.0), result) if exponent < 0 else result


def _without_negative_zero(
    emitter: FunctionEmitter, base: ir.Value, flags: Sequence[str]
) -> tuple[ir.Value, list[str]]:
    """A base of negative powers: the reciprocal of a negative zero's root would be negative.

    With the flags of what is computed from it: where signs of zeros do not matter, LLVM takes the
    base as it was.
    """
    signed = [flag for flag in flags if flag not in ("fast", "nsz")]
    return emitter.builder.fadd(base, ir.Constant(base.type, 0.0)), signed


def _of_lowest(
    emitter: FunctionEmitter, base: ir.Value, result: ir.Value, of_lowest: float
) -> ir.Value:
    """A power that is made of roots: minus infinity has none, but a power it has."""
    is_lowest = emitter.builder.fcmp_ordered("==", base, ir.Constant(base.type, -inf))
    return emitter.builder.select(is_lowest, ir.Constant(base.type, of_lowest), result)


def _elements(constant: ir.Constant) -> list[float]:
    """The values of a constant, one for each lane; no number where it has none."""
    lanes = [constant]
    if isinstance(constant.type, ir.VectorType):
        lanes = list(cast("Sequence[ir.Constant]", constant.constant))
    return [each.constant if isinstance(each.constant, float) else nan for each in lanes]
