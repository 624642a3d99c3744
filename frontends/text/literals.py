"""Literals of floating-point numbers in MLIR text."""

from __future__ import annotations

import math
import struct


def float_literal(value: float, width: int) -> str:
    """The text of a number of 32 or 64 bits; its bits where it is infinite or no number."""
    if not math.isfinite(value):
        form = "<I" if width == 32 else "<Q"
        bits = struct.unpack(form, struct.pack("<f" if width == 32 else "<d", value))[0]
        return f"0x{bits:0{width // 4}X}"
    text = repr(value)
    mantissa, mark, exponent = text.partition("e")
    return text if not mark or "." in mantissa else f"{mantissa}.0e{exponent}"
