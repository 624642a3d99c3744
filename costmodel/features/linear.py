"""Linear forms of the schedule functions of loops, cached per isl function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import islpy as isl
import numpy as np

from ...passes.polyhedral.schedule_tree import Loop

_IN, _PARAM, _DIV = isl.dim_type.in_, isl.dim_type.param, isl.dim_type.div

_MEMORY = 20_000


class LinearForm(NamedTuple):
    """A quasi-affine function without its rounding: `floor((i + n) / 32)` has the slope 1/32.

    `slopes` has one entry per iterator, `constant` is the value at the origin for given sizes.
    `rounds` tells tile loops from others, `skewed` those over sums of iterators. `terms` are the
    iterators that it depends on, with the absolute values of their slopes.
    """

    slopes: tuple[float, ...]
    constant: float
    rounds: bool
    skewed: bool
    terms: tuple[tuple[int, float], ...]


class LinearForms:
    """Reads the functions of loops, each once, for given sizes."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._sizes = sizes
        self._by_text: dict[str, LinearForm] = {}
        self._by_loop: dict[int, tuple[Mapping[str, isl.Aff], dict[str, LinearForm]]] = {}

    def of(self, loop: Loop, statement: str) -> LinearForm:
        """What the loop runs over in a statement."""
        known = self._by_loop.get(id(loop.schedule))
        if known is None:
            if len(self._by_loop) > _MEMORY:
                self._by_loop.clear()
            # The mapping is kept as well, so that its id stays its own.
            known = self._by_loop[id(loop.schedule)] = (loop.schedule, {})
        form = known[1].get(statement)
        if form is None:
            form = known[1][statement] = self._read(loop.schedule[statement])
        return form

    def _read(self, function: isl.Aff) -> LinearForm:
        text = function.to_str()
        form = self._by_text.get(text)
        if form is None:
            if len(self._by_text) > _MEMORY:
                self._by_text.clear()
            *slopes, constant = _coefficients(function, self._sizes)
            rounds = function.dim(_DIV) > 0
            terms = tuple([(d, abs(slope)) for d, slope in enumerate(slopes) if slope])
            form = self._by_text[text] = LinearForm(
                tuple(slopes), constant, rounds, len(terms) > 1, terms
            )
        return form


def _coefficients(function: isl.Aff, sizes: Mapping[str, int]) -> list[float]:
    """The slopes of the iterators, then the constant; quotients count without rounding."""
    result: list[float] = [
        function.get_coefficient_val(_IN, position).get_d() for position in range(function.dim(_IN))
    ]
    constant = function.get_constant_val().get_d()
    for position in range(function.dim(_PARAM)):
        factor = function.get_coefficient_val(_PARAM, position).get_d()
        if factor:
            constant += factor * sizes.get(function.get_dim_name(_PARAM, position) or "", 0)
    result.append(constant)
    for position in range(function.dim(_DIV)):
        factor = function.get_coefficient_val(_DIV, position).get_d()
        if factor:
            inner = _coefficients(function.get_div(position), sizes)
            result = [outer + factor * own for outer, own in zip(result, inner, strict=True)]
    return result


@lru_cache(maxsize=8192)
def directions(rows: tuple[tuple[float, ...], ...]) -> tuple[tuple[float, ...], ...]:
    """How the iterators grow when one of some loops makes a step and the others stand still.

    `rows` are the slopes of the loops; there is one direction per loop. Where the loops do not
    determine the iterators, it is the shortest one.
    """
    if all(_single(row) for row in rows):
        return tuple(tuple(1.0 / s if s else 0.0 for s in row) for row in rows)
    inverse = np.linalg.pinv(np.array(rows))
    return tuple(tuple(round(float(x), 6) for x in column) for column in inverse.T)


def _single(row: Sequence[float]) -> bool:
    return sum(1 for slope in row if slope) <= 1
