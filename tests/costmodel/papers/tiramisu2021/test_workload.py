"""The workload of Tiramisu's space: single rectangular nests, and four kinds of steps."""

from __future__ import annotations

from loopwright.costmodel.labelled_data import RandomWorkload
from loopwright.costmodel.learning.spaces import TIRAMISU, is_rectangular, is_single_nest, kinds_of
from loopwright.costmodel.papers.tiramisu2021.workload import TiramisuWorkload
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import load

PROGRAMS = 30


def test_all_is_in_the_space() -> None:
    workload = TiramisuWorkload(seed=5)
    kinds: set[str] = set()
    for item in range(PROGRAMS):
        subject = workload.subject(item)
        (function,) = load(subject.text).values()
        assert is_single_nest(function.scop.tree)
        assert is_rectangular(function.scop)
        original = Schedule.original(function.scop)
        schedules = [
            str(schedule) for schedule, _ in workload.schedules(item, original, subject.sizes)
        ]
        assert 0 < len(schedules) <= workload.count
        assert len({*schedules, ""}) == len(schedules) + 1
        for schedule in schedules:
            kinds |= kinds_of(schedule)
    assert kinds == TIRAMISU


def test_its_programs_are_not_those_of_the_random_workload() -> None:
    here, there = TiramisuWorkload(seed=5), RandomWorkload(seed=5)
    assert here.identity(1) != there.identity(1)
    assert any(here.subject(item).text != there.subject(item).text for item in range(5))
