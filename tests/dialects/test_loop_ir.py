"""What the code generator makes verifies, prints as MLIR text and parses again to the same."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.differential import function_of
from support.random_programs import programs, sizes_of
from support.random_schedules import schedules

from loopwright.dialects.errors import SourceError
from loopwright.dialects.parse import parse_module
from loopwright.dialects.verify import verify
from loopwright.lowering.generate import generate


def check(data: st.DataObject) -> None:
    program = data.draw(programs())
    try:
        original = function_of(program).schedule()
        schedule = data.draw(schedules(original))
        function = generate(schedule, data.draw(sizes_of(program)))
    except SourceError as error:
        assume("too complex" not in error.message)
        raise
    verify(function)
    printed = str(function)
    again = next(iter(parse_module(printed).ops))
    assert function.is_structurally_equivalent(again), printed


@given(st.data())
@settings(max_examples=10, deadline=None)
def test_round_trip(data: st.DataObject) -> None:
    check(data)


@pytest.mark.campaign
@given(st.data())
@settings(max_examples=500, deadline=None)
def test_round_trip_campaign(data: st.DataObject) -> None:
    check(data)
