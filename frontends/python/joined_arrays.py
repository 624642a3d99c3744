"""Functions that put arrays behind each other, for as many as a call has."""

from __future__ import annotations

from functools import cache

import numpy as np

from .local_functions import FunctionByRank, LocalStub, PlainFunction
from .source import PythonSource

RANKS = range(1, 4)
"""Dimensions of arrays that are joined."""


@cache
def joining(count: int, *axes: tuple[int, int]) -> FunctionByRank:
    """The function for so many arrays; `axes` are pairs of a rank and the axis along which."""
    return FunctionByRank({rank: _function(count, rank, axis % rank) for rank, axis in axes})


def _function(count: int, rank: int, axis: int) -> PlainFunction:
    """One array of the type in which NumPy computes with all, and an assignment for each."""
    names = [f"a{position}" for position in range(count)]
    lengths = [f"{name}.shape[{axis}]" for name in names]
    extents = [f"a0.shape[{each}]" for each in range(rank)]
    extents[axis] = " + ".join(lengths)
    every = ", ".join(names)
    lines = [
        f"def joined({every}):",
        f"    result = np.empty(({', '.join(extents)},), dtype=np.result_type({every}))",
    ]
    for position, name in enumerate(names):
        start, stop = (" + ".join(lengths[:end]) for end in (position, position + 1))
        subscripts = ":, " * axis + f"{start}:{stop}"
        lines.append(f"    result[{subscripts}] = {name}")
    source = PythonSource("<joined>", 1, (*lines, "    return result"))
    return PlainFunction(LocalStub(source.parse()), source, {"np": np}, of_language=True)
