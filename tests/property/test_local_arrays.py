"""Local arrays of scheduled programs: what the checks of bounded code and the interpreter say."""

from __future__ import annotations

import random

import pytest
from support.choice import SeededChooser
from support.differential import assert_same, compiled, describe, function_of, interpreted
from support.random_programs import seeded_program, seeded_sizes
from support.random_schedules import random_schedule

from loopwright.dialects.errors import SourceError
from loopwright.lowering.loops import storage

# Those that make local arrays, and those that change the values of the loops that these begin at.
TRANSFORMATIONS = (
    *("pack",) * 8,
    *("expand", "rfactor") * 2,
    *("strip-mine", "tile", "wavefront", "skew") * 3,
    *("shift", "reverse", "interchange", "diamond", "split"),
    *("vectorize", "unroll", "unroll-and-jam", "parallel", "fuse", "distribute"),
)

# What isl cannot do, and says so.
REFUSALS = ("too complex", "isl leaves out instances")


def check(seed: int) -> bool:
    """Whether the seed's program and schedule could be compared; they agree then."""
    source = random.Random(seed)
    program = seeded_program(seed, calls=True)
    function = function_of(program)
    try:
        schedule = random_schedule(SeededChooser(source), function.schedule(), 8, TRANSFORMATIONS)
        sizes = seeded_sizes(program, source)
        expected, exact = interpreted(program, sizes)
        found = compiled(
            program, function, sizes, schedule, source.choice((1, 2)), check_bounds=True
        )
    except SourceError as error:
        assert any(refusal in error.message for refusal in REFUSALS), error
        return False
    if exact:
        assert_same(expected, found, f"check({seed})\n{describe(program, sizes, schedule)}")
    return exact


@pytest.mark.parametrize("part", range(6))
def test_code_stays_inside_of_its_arrays(part: int) -> None:
    compared = sum(check(seed) for seed in range(5 * part, 5 * part + 5))
    assert compared >= 3


@pytest.mark.parametrize("seed", range(2, 6))
def test_arrays_that_isl_finds_no_place_for_live_further_out(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "_HOME_OPERATIONS", 1)
    assert check(seed)


@pytest.mark.campaign
@pytest.mark.parametrize("part", range(30))
def test_campaign(part: int) -> None:
    """3,000 pairs of a program and a schedule."""
    compared = sum(check(seed) for seed in range(1_000_000 + 100 * part, 1_000_100 + 100 * part))
    assert compared > 80
