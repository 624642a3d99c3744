"""The polyhedral model and the schedule trees, run instance by instance, against the interpreter.

No code is generated here: what fails is wrong in raising, in a dependence or in a transformation.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.differential import assert_same, describe, function_of, interpreted
from support.random_programs import RandomProgram, programs, sizes_of
from support.random_schedules import schedules
from support.scop_execution import ScopExecution

from loopwright.passes.schedules.schedule import Schedule


def check_execution(program: RandomProgram, schedule: Schedule, sizes: dict[str, int]) -> None:
    """The schedule's order, run on the model, gives what the program gives."""
    expected, _ = interpreted(program, sizes)
    arguments = program.make_arguments(sizes)
    results = ScopExecution(schedule.scop, arguments).run(schedule.tree)
    assert_same(expected, [*arguments, *results], describe(program, sizes, schedule))


def run(data: st.DataObject) -> None:
    """Draws a program, its sizes and a schedule."""
    program = data.draw(programs(calls=True))
    sizes = data.draw(sizes_of(program))
    original = Schedule.original(function_of(program).scop)
    check_execution(program, original, sizes)
    check_execution(program, data.draw(schedules(original)), sizes)


@given(st.data())
def test_model_runs_like_the_program(data: st.DataObject) -> None:
    run(data)


@pytest.mark.campaign
@given(st.data())
@settings(max_examples=2000, derandomize=False)
def test_model_runs_like_the_program_campaign(data: st.DataObject) -> None:
    run(data)
