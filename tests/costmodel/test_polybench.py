"""The workload of PolyBench's kernels, and that models never learn from it."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from support.labels import write_labels

from loopwright.cli import main
from loopwright.costmodel.original import original_schedule
from loopwright.costmodel.polybench import ORIGIN, PolybenchWorkload
from loopwright.passes.polyhedral.extents import infer_extents


def test_every_kernel_has_a_number_and_all_its_sizes() -> None:
    workload = PolybenchWorkload(4)
    assert len(workload) == 30
    assert len({workload.identity(item) for item in range(30)}) == 30
    for item in (0, 3, 12):
        instance = workload.instance(item)
        assert pickle.loads(pickle.dumps(instance)) == instance, "it goes to other processes"
        scop = original_schedule(instance.text).scop
        names = infer_extents(scop, instance.sizes)
        assert {parameter.name for parameter in scop.parameters} <= set(names)


def test_schedules_are_different_and_repeatable() -> None:
    workload = PolybenchWorkload(6, 2)
    instance = workload.instance(3)
    original = original_schedule(instance.text)
    sizes = infer_extents(original.scop, instance.sizes)
    first, again = (
        [str(schedule) for schedule, _ in workload.schedules(3, original, sizes)] for _ in range(2)
    )
    assert first == again
    assert len(set(first)) == len(first) == 6


def test_models_do_not_learn_from_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels = tmp_path / "labels"
    write_labels(labels, 4, origin=ORIGIN)
    options = ["--model", "additive", "-o", str(tmp_path / "model.npz")]
    assert main(["train", str(labels), *options]) == 1
    assert "labels of 0 programs" in capsys.readouterr().err
