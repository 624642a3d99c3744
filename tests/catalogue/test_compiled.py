"""Compiled kernels against their NumPy references: as written, and with the usual schedules."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support.standard_schedules import STANDARD_SCHEDULES, standard_schedule

from loopwright.kernels.catalogue import Array, KernelEntry, catalogue
from loopwright.kernels.references import REFERENCES, reference
from loopwright.runtime.program import Function, load

TESTED = [
    ("interchange", "MINI"),
    ("parallel", "MINI"),
    ("vectorize", "MINI"),
    ("all", "SMALL"),
]


@cache
def function_of(name: str) -> Function:
    """The function of an entry, parsed and analysed once."""
    entry = catalogue()[name]
    return load(entry.text)[entry.function]


@cache
def expected_outputs(name: str, size: str) -> dict[str, Array]:
    """What the reference computes."""
    entry = catalogue()[name]
    arguments = entry.arguments(size)
    reference(entry)(*arguments)
    return entry.output_arrays(arguments)


def check(entry: KernelEntry, size: str, actual: dict[str, Array]) -> None:
    """Compares the outputs of a call with those of the reference, where they are determined."""
    for array in entry.arrays:
        if array.output:
            values, wanted = actual[array.name], expected_outputs(entry.name, size)[array.name]
            mask = array.determined_mask(wanted.shape, entry.parameter_values(size))
            scale = float(np.abs(wanted[mask]).max())
            error = float(np.abs(values[mask].astype(np.float64) - wanted[mask]).max())
            assert error <= entry.tolerance * scale, array.name


@pytest.mark.parametrize("name", list(REFERENCES))
def test_as_written(name: str) -> None:
    entry = catalogue()[name]
    kernel = function_of(name).compile()
    for size in ("MINI", "SMALL"):
        arguments = entry.arguments(size)
        kernel(*arguments)
        check(entry, size, entry.output_arrays(arguments))


def run_scheduled(name: str, schedule: str, size: str) -> None:
    """Compiles, calls and checks one kernel."""
    entry, function = catalogue()[name], function_of(name)
    kernel = function.compile(standard_schedule(schedule, function.schedule()), threads=2)
    arguments = entry.arguments(size)
    kernel(*arguments)
    check(entry, size, entry.output_arrays(arguments))


@pytest.mark.parametrize(("schedule", "size"), TESTED)
@pytest.mark.parametrize("name", list(REFERENCES))
def test_scheduled(name: str, schedule: str, size: str) -> None:
    run_scheduled(name, schedule, size)


@pytest.mark.campaign
@pytest.mark.parametrize("size", ["MINI", "SMALL", "MEDIUM"])
@pytest.mark.parametrize("schedule", list(STANDARD_SCHEDULES))
@pytest.mark.parametrize(
    "name", [name for name in REFERENCES if "MEDIUM" in catalogue()[name].sizes]
)
def test_every_schedule_and_size(name: str, schedule: str, size: str) -> None:
    run_scheduled(name, schedule, size)
