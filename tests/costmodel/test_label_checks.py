"""Labels from elsewhere: wrong types, numbers that cannot be, schedules that are none."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from loopwright.costmodel.label_checks import LabelError, checked_labels
from loopwright.costmodel.labels import Incident, Label, LabelledProgram, ProgramInstance

LABEL = Label(
    "tile{loops=i,j sizes=8,8}", "random", "measured", 0.1, 0.01, 0.09, 5, 2, 0.2, 0.0, 0.3, 1e9
)
INCIDENT = Incident("crash", "it ended", "text", {"n": 4}, "", 0)
PROGRAM = LabelledProgram(
    7,
    ProgramInstance("func.func @f() { return }", {"n": 4}, "random"),
    {"n": 4},
    replace(LABEL, schedule=""),
    "{}",
    "{}",
    (LABEL, replace(LABEL, status="censored", difference=math.inf)),
    (INCIDENT,),
    {"compile": 0.1},
)


def test_labels_arrive() -> None:
    assert checked_labels([PROGRAM], [6, 7]) == [PROGRAM]
    unmeasured = replace(PROGRAM, baseline=None, labels=())
    assert checked_labels([unmeasured], [7]) == [unmeasured]


def with_label(**changes: Any) -> LabelledProgram:
    return replace(PROGRAM, labels=(LABEL, replace(LABEL, **changes)))


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        (None, "not a list"),
        ([LABEL], "not LabelledProgram"),
        ([replace(PROGRAM, item=8)], "not asked for"),
        ([replace(PROGRAM, item="7")], "item is '7'"),
        ([replace(PROGRAM, sizes={"n": 1 << 70})], "64 bits"),
        ([replace(PROGRAM, stages={"run": math.inf})], "no time"),
        ([replace(PROGRAM, labels=(None,))], r"labels\[0\] is None"),
        ([replace(PROGRAM, incidents=[INCIDENT])], "incidents is"),
        ([with_label(seconds=0.0)], "seconds is 0.0"),
        ([with_label(seconds=math.nan)], "not a number"),
        ([with_label(baseline_seconds=-1.0)], "baseline_seconds is -1.0"),
        ([with_label(fastest=math.inf)], "fastest is inf"),
        ([with_label(repetitions=0)], "repetitions is 0"),
        ([with_label(threads=True)], "threads is True"),
        ([with_label(status="best")], "status is 'best'"),
        ([with_label(schedule="tile{loops=i")], "is no schedule"),
        ([with_label(schedule="import os")], "is no schedule"),
        ([with_label(schedule=3)], "schedule is 3"),
        ([with_label(difference=-0.5)], "difference is -0.5"),
    ],
)
def test_what_cannot_be_is_refused(labels: Any, reason: str) -> None:
    with pytest.raises(LabelError, match=reason) as caught:
        checked_labels(labels, [7])
    assert "\n" not in str(caught.value)
