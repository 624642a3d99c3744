"""Schedules are immutable values, and know their loops."""

from __future__ import annotations

import pytest
from support.scops import polybench

from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.schedule_tree import statements
from loopwright.passes.schedules.errors import IllegalTransformation, MalformedTransformation
from loopwright.passes.schedules.schedule import DEEPEST, Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline


def test_applying_makes_a_new_schedule() -> None:
    original = Schedule.original(polybench("gemm"))
    (tile,) = parse_pipeline("tile{loops=k sizes=8}")
    tiled = original.apply(tile)
    assert original.transformations == ()
    assert original.tree is original.scop.tree
    assert tiled.transformations == (tile,)
    assert tiled != original


def test_equal_steps_make_equal_schedules() -> None:
    original = Schedule.original(polybench("jacobi-2d"))
    one = original.apply_all(parse_pipeline("tile{loops=S0.i,S0.j sizes=8,8}"))
    other = original.apply_all(parse_pipeline("tile{loops=S0.i,j sizes=8,8 names=it,jt}"))
    assert len({one, other, original}) == 2
    assert str(one) == "tile{loops=S0.i,S0.j sizes=8,8}"


def test_dependences_are_computed_once() -> None:
    scop = polybench("gemm")
    assert Schedule.original(scop).dependences is Schedule.original(scop).dependences


def test_finds_loops_by_name() -> None:
    schedule = Schedule.original(polybench("gemm"))
    assert statements(schedule.loop("k")) == ("S1",)
    assert statements(schedule.loop("S0.j")) == ("S0",)
    assert schedule.loop("S1.i") is schedule.loop("S0.i")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("j", "loop j is ambiguous: say S0.j or S1.j"),
        ("S0.k", "there is no loop S0.k (did you mean S0.j?); the loops are i, S0.j, k, S1.j"),
        ("jt", "there is no loop jt; the loops are i, S0.j, k, S1.j"),
        ("S1.jj", "there is no loop S1.jj (did you mean S1.j?); the loops are i, S0.j, k, S1.j"),
    ],
)
def test_says_which_loops_there_are(name: str, message: str) -> None:
    with pytest.raises(MalformedTransformation) as caught:
        Schedule.original(polybench("gemm")).loop(name)
    assert str(caught.value) == message


def test_a_failing_step_stops_a_series() -> None:
    steps = parse_pipeline("tile{loops=k sizes=8},parallel{loops=kt},unroll{loops=i}")
    with pytest.raises(IllegalTransformation, match="parallel of kt is illegal"):
        Schedule.original(polybench("gemm")).apply_all(steps)


def test_the_target_decides_the_width_of_vectors() -> None:
    for name, width in (("x86-64-v3", 4), ("x86-64-v4", 8)):
        schedule = Schedule.original(polybench("gemm"), Target.named(name))
        assert schedule.apply_all(parse_pipeline("vectorize{loops=S1.j}")).loop("S1.j").vector == (
            width
        )


def test_loops_have_a_greatest_depth() -> None:
    original = Schedule.original(polybench("gemm"))
    with pytest.raises(MalformedTransformation) as caught:
        original.apply_all(parse_pipeline(",".join(["tile{loops=k sizes=8}"] * 300)))
    message = str(caught.value)
    limit = f"then {DEEPEST + 1} loops would be inside each other; there may be {DEEPEST}"
    assert message == f"tile of k: {limit}"
