"""What isl's scheduler answers is checked: each instance has one place in the order."""

from __future__ import annotations

import re

import pytest
from support.scops import polybench

from loopwright.passes.polyhedral.schedule_tree import statements
from loopwright.passes.schedules.errors import MalformedTransformation
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.transformations import affine_schedule
from loopwright.passes.transformations.affine_schedule import AffineSchedule

FILTER = re.compile(r'filter: "(\[[^]]*\] -> \{) S1\[[^]]*\]( : [^}]*)? \}"')


def answered(change: str, monkeypatch: pytest.MonkeyPatch) -> Schedule:
    """The schedule where isl's answer has another filter in place of that of S1."""
    solve = affine_schedule.solve

    def changed(*question: object) -> str:
        text, count = FILTER.subn(rf'filter: "\1 {change} }}"', solve(*question))  # pyright: ignore
        assert count == 1
        return text

    monkeypatch.setattr(affine_schedule, "solve", changed)
    return Schedule.original(polybench("atax")).apply(AffineSchedule(fusion="minimal"))


def test_all_statements_have_a_place() -> None:
    made = Schedule.original(polybench("atax")).apply(AffineSchedule(fusion="minimal"))
    assert sorted(statements(made.tree)) == ["S0", "S1", "S2", "S3"]


@pytest.mark.parametrize("change", ["", "S1[i] : i > 3"])
def test_lost_instances(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MalformedTransformation, match="loses instances of 'S1'; choose another"):
        answered(change, monkeypatch)


def test_instances_with_two_places(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MalformedTransformation, match="instances of 'S0'; choose another"):
        answered("S0[i]; S1[i]", monkeypatch)
