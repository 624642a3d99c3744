"""Affine expressions as text, for isl and for people."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

_FORMATS = {
    AffineBinaryOpKind.Add: "({} + {})",
    AffineBinaryOpKind.Mul: "({} * {})",
    AffineBinaryOpKind.Mod: "(({}) mod {})",
    AffineBinaryOpKind.FloorDiv: "floor(({}) / {})",
    AffineBinaryOpKind.CeilDiv: "ceil(({}) / {})",
}


def to_text(expression: AffineExpr, dims: Sequence[str], symbols: Sequence[str]) -> str:
    """`d0 + s0 * 2` -> `(i + N * 2)`, with dims and symbols named."""
    match expression:
        case AffineConstantExpr(value):
            # Without parentheses: isl reads no product with `(-1)`.
            return str(value)
        case AffineDimExpr(position):
            return dims[position]
        case AffineSymExpr(position):
            return symbols[position]
        case AffineBinaryOpExpr(kind, lhs, rhs):
            return _FORMATS[kind].format(to_text(lhs, dims, symbols), to_text(rhs, dims, symbols))
        case _:
            raise TypeError(f"unknown affine expression {expression}")


def to_readable_text(expression: AffineExpr, dims: Sequence[str], symbols: Sequence[str]) -> str:
    """`d0 + s0 * 2` -> `i + (N * 2)`, in MLIR's syntax."""
    names = {"d": dims, "s": symbols}
    text = re.sub(r"\b([ds])(\d+)\b", lambda found: names[found[1]][int(found[2])], str(expression))
    if isinstance(expression, AffineBinaryOpExpr):
        text = text[1:-1]
    return text.replace("+ -", "- ")
