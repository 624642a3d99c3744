"""Loops generated for symbolic sizes do, in the interpreter, what the program does."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.differential import assert_same, describe, function_of, interpreted
from support.interpreter import Interpreter
from support.random_programs import programs, sizes_of
from support.random_schedules import schedules
from xdsl.dialects.builtin import ModuleOp

from loopwright.dialects.errors import SourceError
from loopwright.lowering.generate import generate
from loopwright.passes.polyhedral.schedule_tree import loops


def run(data: st.DataObject) -> None:
    """Draws a program, a schedule without vectors, and sizes."""
    program = data.draw(programs())
    schedule = data.draw(schedules(function_of(program).schedule()))
    assume(all(loop.vector is None for loop in loops(schedule.tree)))
    try:
        generated = ModuleOp([generate(schedule, {})])
    except SourceError as error:  # isl is stopped after some seconds: an answer, not a wrong one
        assume("too complex" not in str(error))
        raise
    for _ in range(2):
        sizes = data.draw(sizes_of(program))
        expected, exact = interpreted(program, sizes)
        assume(exact)
        arguments = program.make_arguments(sizes)
        # a packed array is copied whether all of it has been written or not
        results = Interpreter(generated, strict=False).run("f", *arguments)
        assert_same(expected, [*arguments, *results], describe(program, sizes, schedule))


@given(st.data())
@settings(max_examples=15)
def test_symbolic_loops_do_what_the_program_says(data: st.DataObject) -> None:
    run(data)


@pytest.mark.campaign
@given(st.data())
@settings(max_examples=1000, derandomize=False)
def test_symbolic_campaign(data: st.DataObject) -> None:
    run(data)
