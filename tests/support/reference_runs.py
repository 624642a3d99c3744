"""Compiled kernels of the catalogue against their NumPy references."""

from __future__ import annotations

from functools import cache

import numpy as np

from loopwright.kernels.catalogue import Array, KernelEntry, catalogue
from loopwright.kernels.references import reference
from loopwright.passes.schedule import Schedule
from loopwright.runtime.program import Function, load

Size = str | tuple[int, ...]
"""A named size, or the values of the parameters."""


@cache
def function_of(name: str) -> Function:
    """The function of an entry, parsed and analysed once."""
    entry = catalogue()[name]
    return load(entry.text)[entry.function]


def check_run(
    name: str,
    schedule: Schedule | str | None,
    size: Size,
    threads: int = 2,
    *,
    fast_math: bool = False,
) -> None:
    """Compiles and calls one kernel, and compares its outputs where they are determined."""
    entry = catalogue()[name]
    arguments = entry.arguments(_parameters(entry, size))
    kernel = function_of(name).compile(schedule, threads=threads, fast_math=fast_math)
    kernel(*arguments)
    actual, expected = entry.output_arrays(arguments), _expected(name, size)
    for array in entry.arrays:
        if array.output:
            values, wanted = actual[array.name], expected[array.name]
            mask = array.determined_mask(
                wanted.shape, entry.parameter_values(_parameters(entry, size))
            )
            scale = float(np.abs(wanted[mask]).max(initial=0))
            error = float(np.abs(values[mask].astype(np.float64) - wanted[mask]).max(initial=0))
            assert error <= entry.tolerance * scale, (array.name, size, threads)


def _parameters(entry: KernelEntry, size: Size) -> str | dict[str, int]:
    return size if isinstance(size, str) else dict(zip(entry.parameters, size, strict=True))


@cache
def _expected(name: str, size: Size) -> dict[str, Array]:
    """What the reference computes."""
    entry = catalogue()[name]
    arguments = entry.arguments(_parameters(entry, size))
    reference(entry)(*arguments)
    return entry.output_arrays(arguments)
