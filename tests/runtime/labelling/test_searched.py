"""The workload of what a search with a model takes for fast."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.cli import main
from loopwright.costmodel.dataset.shards import list_shards, read_table
from loopwright.costmodel.labelled_data import RandomWorkload, SearchedWorkload
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.estimate.estimate import Roofline
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.search.schedule_key import schedule_key
from loopwright.passes.search.space.trees import tree_key
from loopwright.runtime.program import load

WORKLOAD = SearchedWorkload(seed=3, threads=2, model="roofline", budget=60.0, best=5, others=3)

ENDING = 2
"""A program whose search comes to its end long before its time is up."""


def start(item: int) -> tuple[Schedule, dict[str, int]]:
    instance = WORKLOAD.instance(item)
    (function,) = load(instance.text).values()
    return Schedule.original(function.scop), dict(infer_extents(function.scop, instance.sizes))


def test_the_default_schedule_then_the_best_then_others() -> None:
    original, sizes = start(ENDING)
    found = list(WORKLOAD.schedules(ENDING, original, sizes))
    names = [name for _, name in found]
    assert names == ["default", *["best"] * names.count("best"), *["other"] * names.count("other")]
    assert 1 <= names.count("best") <= 5 and 1 <= names.count("other") <= 3
    usual = default_schedule(original.scop, sizes, threads=2)
    assert tree_key(found[0][0].tree) == tree_key(usual.tree)
    rates = Roofline().predict(SchedulingContext(sizes, 2), [schedule for schedule, _ in found])
    best = [rate for rate, name in zip(rates, names, strict=True) if name == "best"]
    others = [rate for rate, name in zip(rates, names, strict=True) if name == "other"]
    assert best == sorted(best, reverse=True)
    assert max(others) <= min(best)
    assert len({schedule_key(schedule) for schedule, _ in found}) == len(found)


def test_the_program_as_written_is_no_schedule() -> None:
    original, sizes = start(1)
    hurried = SearchedWorkload(seed=3, model="roofline", budget=0.0)
    for schedule, _ in hurried.schedules(1, original, sizes):
        assert schedule.transformations


def test_its_labels_are_not_those_of_the_random_workload() -> None:
    assert WORKLOAD.identity(1) != RandomWorkload(seed=3).identity(1)
    assert WORKLOAD.instance(1).text == RandomWorkload(seed=3).instance(1).text


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["data", "generate", "--workload", "searched", "--programs", "1", "--workers", "1"]
    command += ["--seed", "9", "-o", str(tmp_path)]
    assert main([*command, "--model", "nope"]) == 1
    assert "there is no cost model 'nope'" in capsys.readouterr().err
    assert main(["data", "generate", "--programs", "1", "-o", "x", "--model", "roofline"]) == 1
    assert "--model is for --workload searched" in capsys.readouterr().err
    assert main([*command, "--model", "roofline"]) == 0
    assert set(read_table(list_shards(tmp_path).shards)["origin"].to_pylist()) == {"searched"}
