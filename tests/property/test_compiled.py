"""Compiled code against the interpreter, and scheduled against unscheduled code."""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.choice import SeededChooser
from support.differential import (
    assert_same,
    compiled,
    describe,
    function_of,
    interpreted,
)
from support.random_memory import INTEGERS
from support.random_programs import programs, seeded_program, seeded_sizes, sizes_of
from support.random_schedules import random_schedule, schedules

from loopwright.dialects.errors import SourceError
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import Function


def run_unscheduled(data: st.DataObject) -> None:
    """Draws a program and sizes; the interpreter and compiled code must agree."""
    program = data.draw(programs(calls=True))
    sizes = data.draw(sizes_of(program))
    expected, exact = interpreted(program, sizes)
    assume(exact)
    found = compiled(program, function_of(program), sizes)
    assert_same(expected, found, describe(program, sizes))


def analysed(function: Function) -> Schedule:
    """The program as written, where isl can compute its dependences."""
    try:
        return function.schedule()
    except SourceError as error:
        assume("too complex" not in error.message)
        raise


def run_scheduled(data: st.DataObject, proposals: int = 6) -> None:
    """Draws a program, a schedule, several sizes and numbers of threads.

    With two threads the code is bounds-checked.
    """
    program = data.draw(programs(calls=True))
    function = function_of(program)
    schedule = data.draw(schedules(analysed(function), proposals))
    for threads in data.draw(st.permutations((1, 2, 3))):
        sizes = data.draw(sizes_of(program))
        expected, exact = interpreted(program, sizes)
        assume(exact)
        found = compiled(program, function, sizes, schedule, threads, check_bounds=threads == 2)
        assert_same(expected, found, describe(program, sizes, schedule, threads))


def run_large(data: st.DataObject) -> None:
    """Draws an integer program and sizes that are larger than tiles."""
    program = data.draw(programs(element_types=INTEGERS))
    function = function_of(program)
    schedule = data.draw(schedules(analysed(function)))
    choices = (17, 32, 41) if program.depth <= 2 else (9, 16, 17)
    sizes = {name: data.draw(st.sampled_from(choices)) for name in program.sizes}
    expected = compiled(program, function, sizes)
    found = compiled(program, function, sizes, schedule, 2)
    assert_same(expected, found, describe(program, sizes, schedule, 2))


@given(st.data())
def test_unscheduled_code_does_what_the_program_says(data: st.DataObject) -> None:
    run_unscheduled(data)


@given(st.data())
def test_scheduled_code_does_what_the_program_says(data: st.DataObject) -> None:
    run_scheduled(data)


@pytest.mark.parametrize("part", range(10))
def test_larger_programs(part: int) -> None:
    """Hypothesis likes small programs; these are as large as they come."""
    assert sum(map(run_larger, range(3 * part, 3 * part + 3))) >= 3


def run_larger(seed: int) -> int:
    """How many runs of a program, with other sizes and threads, could be compared exactly."""
    program = seeded_program(seed, calls=True)
    function = function_of(program)
    source = random.Random(seed)
    schedule = random_schedule(SeededChooser(source), function.schedule(), 8)
    compared = 0
    for threads in (1, 2, 3):
        sizes = seeded_sizes(program, source)
        expected, exact = interpreted(program, sizes)
        found = compiled(program, function, sizes, schedule, threads, check_bounds=threads == 2)
        if exact:
            assert_same(expected, found, describe(program, sizes, schedule, threads))
            compared += 1
    return compared


@pytest.mark.campaign
@given(st.data())
@settings(max_examples=2000, derandomize=False)
def test_unscheduled_campaign(data: st.DataObject) -> None:
    run_unscheduled(data)


@pytest.mark.campaign
@given(st.data())
@settings(max_examples=5000, derandomize=False)
def test_scheduled_campaign(data: st.DataObject) -> None:
    run_scheduled(data, proposals=data.draw(st.integers(1, 12)))


@given(st.data())
@settings(max_examples=10)
def test_scheduled_code_does_what_unscheduled_code_does(data: st.DataObject) -> None:
    run_large(data)


@pytest.mark.campaign
@given(st.data())
@settings(max_examples=1000, derandomize=False)
def test_large_campaign(data: st.DataObject) -> None:
    run_large(data)
