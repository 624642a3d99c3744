"""Compiled kernels of the catalogue against their NumPy references."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from loopwright.kernels.catalogue import Array, KernelEntry, catalogue
from loopwright.kernels.references import REFERENCES, reference
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.measuring.compare import Agreement, compare
from loopwright.runtime.program import Function, load

PAPERS_KERNELS = tuple(name for name in REFERENCES if not name.startswith("field/"))
"""Those of the papers' suites: the suite `field` has tests of its own."""

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
    """Compiles and calls one kernel, and compares its outputs where they are determined.

    What is generated for a schedule must be proved to be the kernel.
    """
    entry = catalogue()[name]
    arguments = entry.arguments(_parameters(entry, size))
    kernel = function_of(name).compile(schedule, threads=threads, fast_math=fast_math, verify=True)
    kernel(*arguments)
    assert kernel.verdict is not None and kernel.verdict.is_proved, schedule
    expected = _expected(name, size)
    for agreement in agreements(entry, _parameters(entry, size), arguments, expected):
        assert agreement.agrees, (str(agreement), size, threads)


def agreements(
    entry: KernelEntry,
    size: str | Mapping[str, int],
    arguments: list[Any],
    expected: Mapping[str, Array],
) -> Iterator[Agreement]:
    """How the outputs among the arguments compare with those expected, where they are determined.

    The tolerance is that of the kernel.
    """
    actual, parameters = entry.output_arrays(arguments), entry.parameter_values(size)
    for array in entry.arrays:
        if array.output:
            values, wanted = actual[array.name], expected[array.name]
            mask = array.determined_mask(wanted.shape, parameters)
            agreement = compare(array.name, values[mask], wanted[mask], 0)
            yield replace(agreement, tolerance=entry.tolerance)


def _parameters(entry: KernelEntry, size: Size) -> str | dict[str, int]:
    return size if isinstance(size, str) else dict(zip(entry.parameters, size, strict=True))


@cache
def _expected(name: str, size: Size) -> dict[str, Array]:
    """What the reference computes."""
    entry = catalogue()[name]
    arguments = entry.arguments(_parameters(entry, size))
    reference(entry)(*arguments)
    return entry.output_arrays(arguments)
