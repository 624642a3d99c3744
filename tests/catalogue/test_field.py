"""The suite `field`: costs, references, and compiled kernels as written and with default schedules.

Everything happens at MINI, whose sizes are odd.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from support.counting_interpreter import CountingInterpreter
from support.reference_runs import agreements, check_run

from loopwright.dialects.parse import parse_module
from loopwright.kernels.catalogue import catalogue
from loopwright.kernels.references import reference

KERNELS = [name for name in catalogue() if name.startswith("field/")]

ARITHMETIC = {
    *(f"arith.{name}{kind}" for name in ("add", "sub", "mul") for kind in "fi"),
    *(f"arith.{name}{kind}" for name in ("max", "min") for kind in ("imumf", "si", "ui")),
    "arith.divf",
}


def signed(value: Any) -> Any:
    """An array of unsigned integers seen as MLIR's, which have no sign."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "u":
        return value.view(f"i{value.itemsize}")
    return value


def test_there_are_enough_of_every_domain() -> None:
    domains = Counter(catalogue()[name].table for name in KERNELS)
    assert len(domains) == 9 and len(KERNELS) >= 40
    assert min(domains.values()) >= 4


@pytest.mark.parametrize("name", KERNELS)
def test_text(name: str) -> None:
    """The text computes what the reference does, with as many operations as the table says."""
    entry = catalogue()[name]
    computed, expected = entry.arguments("MINI"), entry.arguments("MINI")
    interpreter = CountingInterpreter(parse_module(entry.text))
    interpreter.run(entry.function, *map(signed, computed))
    reference(entry)(*expected)
    for agreement in agreements(entry, "MINI", computed, entry.output_arrays(expected)):
        assert agreement.agrees, str(agreement)
    counts = interpreter.counts
    operations = [op for op in counts if op in ARITHMETIC or op.startswith("math.")]
    assert entry.flops("MINI") == sum(counts[op] for op in operations)


@pytest.mark.parametrize("name", KERNELS)
def test_results_tell_elements_apart(name: str) -> None:
    """A program that permutes its results, or leaves some out, must not pass."""
    entry = catalogue()[name]
    arguments = entry.arguments("MINI")
    before = {key: value.copy() for key, value in entry.output_arrays(arguments).items()}
    reference(entry)(*arguments)
    for key, value in entry.output_arrays(arguments).items():
        assert np.isfinite(value).all()
        assert not np.array_equal(value, before[key]), key
        assert len(np.unique(value)) > 1, key


@pytest.mark.parametrize("schedule", [None, "default", "default, fast math"], ids=str)
@pytest.mark.parametrize("name", KERNELS)
def test_compiled(name: str, schedule: str | None) -> None:
    pipeline = schedule and "default"
    check_run(name, pipeline, "MINI", fast_math=schedule != pipeline)
