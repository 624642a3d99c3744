"""Nests with strides and quotients run each instance once, in the order of the schedule."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.choice import SeededChooser
from support.nest_execution import executed, expected
from support.strided_programs import StridedProgram, strided_program, tiled

from loopwright.passes.polyhedral.isl_context import TooComplexError, bounded
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import Function, load

# isl needs minutes for some schedules with many quotients.
OPERATIONS = 2_000_000


def pair(seed: int) -> tuple[StridedProgram, Function, Schedule, int]:
    """A program, a schedule of it and a size."""
    source = random.Random(seed)
    chooser = SeededChooser(source)
    program = strided_program(chooser)
    function = load(program.text)["f"]
    schedule = tiled(chooser, function.schedule(), source.randint(1, 5))
    return program, function, schedule, source.randint(0, 9)


def check_nests(seed: int) -> None:
    """What the nests run, made with and without the size, is what the schedule says."""
    program, _, schedule, size = pair(seed)
    sizes = {parameter.name: size for parameter in schedule.scop.parameters}
    for symbolic in (False, True):
        try:
            with bounded(OPERATIONS):
                found = executed(schedule, sizes, symbolic=symbolic)
        except TooComplexError:
            continue
        note = f"{program.text}size: {size}\npipeline: {schedule}\nsymbolic: {symbolic}"
        assert found == expected(schedule, sizes), note


def check_code(seed: int) -> None:
    """The compiled schedule counts what the program as written counts."""
    program, function, schedule, size = pair(seed)
    outcomes: list[list[object]] = []
    for each in (None, schedule):
        arguments = program.arguments(size)
        function.compile(each, threads=1)(*arguments)
        outcomes.append(arguments)
    note = f"{program.text}size: {size}\npipeline: {schedule}"
    for one, other in zip(*outcomes, strict=True):
        np.testing.assert_array_equal(one, other, note)


@pytest.mark.parametrize("block", range(10))
def test_nests(block: int) -> None:
    for seed in range(8 * block, 8 * block + 8):
        check_nests(seed)


@pytest.mark.parametrize("seed", [334, 555, 645, 997])
def test_programs_that_isl_gets_wrong(seed: int) -> None:
    check_nests(seed)


@pytest.mark.parametrize("block", range(5))
def test_code(block: int) -> None:
    for seed in range(4 * block, 4 * block + 4):
        check_code(seed)


@pytest.mark.campaign
@pytest.mark.parametrize("block", range(100))
def test_nests_campaign(block: int) -> None:
    for seed in range(10_000 + 50 * block, 10_050 + 50 * block):
        check_nests(seed)
