"""Random programs print in the syntax they were written in, and parse again to the same module."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from support.random_programs import RandomProgram, programs

from loopwright.dialects.parse import parse_module


def check_round_trip(program: RandomProgram) -> None:
    """Text -> module -> text -> module."""
    module = parse_module(program.text)
    printed = str(module)
    again = parse_module(printed)
    assert module.is_structurally_equivalent(again), printed
    assert str(again) == printed


@given(programs(calls=True))
@settings(max_examples=40)
def test_round_trip(program: RandomProgram) -> None:
    check_round_trip(program)


@pytest.mark.campaign
@given(programs(calls=True))
@settings(max_examples=2000, derandomize=False)
def test_round_trip_campaign(program: RandomProgram) -> None:
    check_round_trip(program)
