"""Powers: those with known exponents may be products and square roots."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan
from typing import cast

from llvmlite import ir

from .emitter import FunctionEmitter
from .reciprocal_roots import reciprocal_root

_LARGEST_EXPONENT = 32

_EXACT_EXPONENTS = (-1.0, 0.0, 0.5, 1.0, 2.0)

_QUARTERS = (0.25, 0.75)


def is_expanded(exponent: ir.Value, *, approximate: bool) -> bool:
    """Whether a power becomes products and square roots.

    With a multiple of one half as exponent, or one or three quarters, where it may be
    approximated; else with those exponents that take one rounding. Other powers of reciprocal
    roots would be products of zero and infinity.
    """
    if not isinstance(exponent, ir.Constant):
        return False
    values = _elements(exponent)
    if not approximate:
        return all(value in _EXACT_EXPONENTS for value in values)
    return all(
        value in _QUARTERS
        or (
            (2 * value).is_integer()
            and (-0.5 if value % 1 else -_LARGEST_EXPONENT) <= value <= _LARGEST_EXPONENT
        )
        for value in values
    )


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
        if value in _QUARTERS:
            return _of_lowest(emitter, base, _quarter_power(emitter, base, value, flags), inf)
        if value == -0.5:
            return _of_lowest(emitter, base, reciprocal_root(emitter, base, flags), 0.0)
        if value > 0 and value % 1 == 0.5:
            result = emitter.call_intrinsic("llvm.pow", operands, base.type, flags=flags)
            return _of_lowest(emitter, base, result, inf)
    return emitter.call_intrinsic("llvm.pow", operands, base.type, flags=flags)


def _quarter_power(
    emitter: FunctionEmitter, base: ir.Value, exponent: float, flags: Sequence[str]
) -> ir.Value:
    """x^(1/4) by two square roots, x^(3/4) by their product; LLVM only does without infinities."""
    kind = base.type
    half = emitter.call_intrinsic("llvm.sqrt", [base], kind, flags=flags)
    result = emitter.call_intrinsic("llvm.sqrt", [half], kind, flags=flags)
    if exponent > 0.5:
        result = emitter.builder.fmul(half, result, flags=flags)
    return result


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
