"""Literals of floating-point numbers in MLIR text."""

from __future__ import annotations

import math
import struct

_NARROW = ("f16", "bf16")


def float_literal(value: float, kind: str) -> str:
    """The text of a number of a type (`f32`); its bits where it is infinite or no number."""
    if not math.isfinite(value):
        if kind in _NARROW:
            # Types of xDSL, which take a while to import.
            from xdsl.dialects.builtin import BFloat16Type, Float16Type

            from ...dialects.narrow_floats import bits_of

            bits = bits_of(value, Float16Type() if kind == "f16" else BFloat16Type())
            return f"0x{bits:04X}"
        form, digits = ("<f", 8) if kind == "f32" else ("<d", 16)
        return f"0x{int.from_bytes(struct.pack(form, value), 'little'):0{digits}X}"
    text = repr(value)
    mantissa, mark, exponent = text.partition("e")
    return text if not mark or "." in mantissa else f"{mantissa}.0e{exponent}"
