"""A schedule written as a pipeline, in the compact notation or in its dialect reads back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.differential import function_of
from support.random_programs import programs
from support.random_schedules import schedules

from loopwright.dialects.parse import parse_module
from loopwright.dialects.schedule import SequenceOp
from loopwright.passes.polyhedral.schedule_tree import Leaf, Loop, Tree
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.compact_notation import apply_notation, print_notation
from loopwright.passes.syntax.schedule_ops import apply_sequence, to_sequence


def shape(tree: Tree) -> Any:
    """All that a tree says, comparable."""
    match tree:
        case Leaf(name):
            return name
        case Loop(name, schedule, body):
            marks = (str(tree.within), tree.parallel, tree.vector, tree.unroll)
            functions = {statement: str(aff) for statement, aff in schedule.items()}
            return name, functions, marks, shape(body)
        case _:
            return [shape(child) for child in tree.children]


def from_dialect(schedule: Schedule, original: Schedule) -> Schedule:
    """Printed in the schedule dialect, parsed and applied."""
    module = parse_module(str(to_sequence(schedule)))
    (sequence,) = (op for op in module.walk() if isinstance(op, SequenceOp))
    return apply_sequence(sequence, original)


def run(data: st.DataObject) -> None:
    """Draws a program and a schedule."""
    function = function_of(data.draw(programs()))
    original = function.schedule()
    schedule = data.draw(schedules(original))
    read = (
        function.schedule(str(schedule)),
        apply_notation(print_notation(schedule), original),
        from_dialect(schedule, original),
    )
    for again in read:
        assert shape(again.tree) == shape(schedule.tree), f"{schedule}\nread as\n{again}"


@given(st.data())
@settings(max_examples=15)
def test_schedules_read_back(data: st.DataObject) -> None:
    run(data)


@pytest.mark.campaign
@given(st.data())
@settings(max_examples=1000, derandomize=False)
def test_schedules_read_back_campaign(data: st.DataObject) -> None:
    run(data)
