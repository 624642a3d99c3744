"""Programs that are only partly affine, under random schedules, against plain Python."""

from __future__ import annotations

import contextlib
import copy
import random
import tempfile
from pathlib import Path

import numpy as np
import pytest
from support.choice import SeededChooser
from support.opaque_programs import OpaqueProgram, opaque_arguments, opaque_program
from support.random_schedules import random_schedule

import loopwright
from loopwright.errors import OutOfBounds, SourceError, TransformationError
from loopwright.passes.polyhedral.schedule_tree import loops_around
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.transformations.parallel import Parallel
from loopwright.passes.transformations.rfactor import Rfactor
from loopwright.passes.transformations.strip_mine import StripMine
from loopwright.runtime.kernel import Kernel
from loopwright.runtime.program import Function

# What isl cannot do, and says so.
REFUSALS = ("too complex", "isl leaves out instances")


def check(seed: int) -> bool:
    """Compares what a program computes, and what it says of subscripts outside of arrays.

    False where isl gives up on the schedule.
    """
    program = opaque_program(seed)
    source = random.Random(seed)
    function = _function(program, seed)
    steps = random_schedule(SeededChooser(source), function.schedule(), 6)
    # All numbers are integers: every order of sums has the same result.
    copies = private_copies(function.schedule(fast_math=True), source)
    for schedule in (None, "default", steps, copies):
        kernel = function.compile(schedule, threads=2, fast_math=schedule is copies, verify=True)
        try:
            for _ in range(3):
                _compare(program, kernel, source, str(schedule))
            _misuse(program, kernel, source)
        except SourceError as error:
            assert any(refusal in error.message for refusal in REFUSALS), error
            return False
    return True


def private_copies(schedule: Schedule, source: random.Random) -> Schedule:
    """Copies for the strips of loops around scattered reductions, where that is possible."""
    for name in schedule.scop.opaque_statements:
        loops = loops_around(schedule.tree, name)
        strip = StripMine((f"{name}.{source.choice(loops).name}",), source.randrange(1, 5))
        (tile,) = (f"{name}.{each}" for each in strip.new_loops(schedule))
        steps = (strip, Rfactor((tile,)), Parallel((tile,)))
        with contextlib.suppress(TransformationError):
            schedule = schedule.apply_all(steps)
    return schedule


def _function(program: OpaqueProgram, seed: int) -> Function:
    """From MLIR, Python or C."""
    name, text = (("f.mlir", program.text), ("f.py", program.kernel), ("f.c", program.c))[seed % 3]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(text)
        return loopwright.load(path)["f"]


def _compare(program: OpaqueProgram, kernel: Kernel, source: random.Random, what: str) -> None:
    arguments = opaque_arguments(source)
    expected = copy.deepcopy(arguments)
    program.reference(expected)
    kernel(*arguments)
    for found, wanted in zip(arguments, expected, strict=True):
        np.testing.assert_array_equal(found, wanted, f"{program.text}\n{what}")


def _misuse(program: OpaqueProgram, kernel: Kernel, source: random.Random) -> None:
    arguments = opaque_arguments(source, wrong=True)
    with pytest.raises(OutOfBounds) as caught:
        kernel(*arguments)
        raise OutOfBounds("nothing was read or written there")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("part", range(6))
def test_schedules_compute_what_python_does(part: int) -> None:
    assert sum(check(seed) for seed in range(5 * part, 5 * part + 5)) >= 3


@pytest.mark.campaign
@pytest.mark.parametrize("part", range(30))
def test_campaign(part: int) -> None:
    """3,000 programs, each under three schedules."""
    seeds = range(1_000_000 + 100 * part, 1_000_100 + 100 * part)
    assert sum(map(check, seeds)) > 80
