"""Questions about affine expressions that isl answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from ...passes.polyhedral.isl_context import ISL_LOCK
from .affine import Affine, Name, Quotient
from .nests import Nest


def overwrites(
    written: Sequence[Affine],
    read: Sequence[Affine],
    loops: Nest,
) -> bool:
    """Whether an iteration of a nest may read what an earlier one has written.

    The subscripts are of one array.
    """
    bounds = [bound for loop in loops for bound in (loop.start, loop.extent)]
    spellings = _spellings([*written, *read, *bounds], [loop.name for loop in loops])
    parameters = ", ".join(spellings.values())
    first, second = (
        {**spellings, **{loop.name: f"{letter}{depth}" for depth, loop in enumerate(loops)}}
        for letter in "pq"
    )
    constraints = [
        f"0 <= {names[loop.name]} - ({text_of(loop.start, spellings)}) < "
        f"{text_of(loop.extent, spellings)}"
        for names in (first, second)
        for loop in loops
    ]
    constraints += [
        f"{text_of(one, first)} = {text_of(other, second)}"
        for one, other in zip(written, read, strict=True)
    ]
    before = [
        " and ".join([*(f"p{outer} = q{outer}" for outer in range(depth)), f"p{depth} < q{depth}"])
        for depth in range(len(loops))
    ]
    constraints.append("(" + " or ".join(f"({each})" for each in before) + ")")
    dimensions = ", ".join([names[loop.name] for names in (first, second) for loop in loops])
    with ISL_LOCK:
        text = f"[{parameters}] -> {{ [{dimensions}] : {' and '.join(constraints)} }}"
        return not isl.Set(text).is_empty()


def _spellings(expressions: Sequence[Affine], bound: Sequence[Name]) -> dict[Name, str]:
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
    if term.operator == "mod":
        return f"(({dividend}) mod {term.divisor})"
    rounding = term.divisor - 1 if term.operator == "ceildiv" else 0
    return f"floor(({dividend} + {rounding})/{term.divisor})"
