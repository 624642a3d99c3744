"""Affine expressions as text, for isl and for messages."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

from .linear_terms import linear_terms

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
    """`(s0 + d0 * -1) - 1` -> `N - i - 1`, in MLIR's syntax."""
    terms, constant = linear_terms(expression)
    texts = [
        (factor, _term(atom, abs(factor), dims, symbols, alone=len(terms) == 1 and not constant))
        for atom, factor in terms.items()
        if factor
    ]
    if constant or not texts:
        texts.append((constant, str(abs(constant))))
    # What is subtracted comes after something that is not.
    first = next((n for n, (factor, _) in enumerate(texts) if factor > 0), 0)
    texts.insert(0, texts.pop(first))
    (factor, head), *rest = texts
    signed = "".join(f" {'-' if factor < 0 else '+'} {text}" for factor, text in rest)
    return f"{'-' if factor < 0 else ''}{head}{signed}"


def _term(
    atom: AffineExpr, factor: int, dims: Sequence[str], symbols: Sequence[str], *, alone: bool
) -> str:
    match atom:
        case AffineBinaryOpExpr(kind, lhs, rhs):
            sides = (to_readable_text(side, dims, symbols) for side in (lhs, rhs))
            text = f" {kind.get_token()} ".join(
                side if side.isidentifier() or side.isdigit() else f"({side})" for side in sides
            )
            text = text if alone and factor == 1 else f"({text})"
        case _:
            text = to_text(atom, dims, symbols)
    return text if factor == 1 else f"{text} * {factor}"
