"""Affine expressions as isl reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from .affine import Affine, Name, Quotient


@cache
def is_zero(value: Affine) -> bool:
    """Whether an expression is zero for all values."""
    if not any(isinstance(term, Quotient) for term, _ in value.terms):
        return value == Affine()
    # Most functions have no quotients.
    import islpy as isl

    from ...passes.polyhedral.isl_context import ISL_LOCK

    spellings = spellings_of([value], [])
    with ISL_LOCK:
        parameters = ", ".join(spellings.values())
        return isl.Set(f"{{ [{parameters}] : {text_of(value, spellings)} != 0 }}").is_empty()


def spellings_of(expressions: Sequence[Affine], bound: Sequence[Name]) -> dict[Name, str]:
    """Names of isl for all names but those of loops."""
    names = dict.fromkeys(name for each in expressions for name in each.names())
    return {name: f"n{position}" for position, name in enumerate(names) if name not in bound}


def text_of(expression: Affine, spellings: Mapping[Name, str]) -> str:
    """An expression as isl reads it."""
    parts = [f"{factor}*{_term(term, spellings)}" for term, factor in expression.terms]
    return " + ".join([*parts, str(expression.constant)])


def _term(term: Name | Quotient, spellings: Mapping[Name, str]) -> str:
    if isinstance(term, Name):
        return spellings[term]
    dividend = text_of(term.dividend, spellings)
    return {
        "floordiv": f"floor(({dividend})/{term.divisor})",
        "ceildiv": f"ceil(({dividend})/{term.divisor})",
        "mod": f"(({dividend}) mod {term.divisor})",
    }[term.operator]
