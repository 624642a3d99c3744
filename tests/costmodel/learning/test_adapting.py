"""Models that are adapted to a machine, and where they are found."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from support.documents import check_file
from support.labels import labelled_program

from loopwright.cli import main
from loopwright.costmodel.adapted import adapted_model, machine_word, models_directory
from loopwright.costmodel.dataset.journal import Journal
from loopwright.costmodel.dataset.rows import rows_of
from loopwright.costmodel.find import find_model
from loopwright.costmodel.learning.errors import LearningError
from loopwright.costmodel.learning.machines import target_of
from loopwright.costmodel.model_names import SHIPPED
from loopwright.costmodel.models.additive import Additive
from loopwright.costmodel.models.learned_model import TrainingOptions
from loopwright.costmodel.models.model_files import load_model, save_model
from loopwright.costmodel.papers.tiramisu2021.model import Tiramisu
from loopwright.passes.machine.target import Target
from loopwright.runtime.machine.machine_fingerprint import machine_fingerprint


def test_the_model_of_this_machine_comes_before_the_shipped_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPWRIGHT_MODELS", str(tmp_path))
    assert adapted_model("additive") is None
    stored = load_model(SHIPPED / "additive.npz")
    assert isinstance(stored.model, Additive)
    stored.model.fork_seconds = 0.5
    elsewhere = dataclasses.replace(Target.host(), caches={1: 1 << 10, 2: 1 << 12, 3: 1 << 14})
    save_model(tmp_path / f"additive-{machine_word(elsewhere)}.npz", stored.model, {})
    found = find_model("additive")
    assert isinstance(found, Additive) and found.fork_seconds != 0.5
    save_model(tmp_path / f"additive-{machine_word(Target.host())}.npz", stored.model, {})
    found = find_model("additive")
    assert isinstance(found, Additive) and found.fork_seconds == 0.5


def test_a_model_of_another_version_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPWRIGHT_MODELS", str(tmp_path))
    (tmp_path / f"additive-{machine_word(Target.host())}.npz").write_bytes(b"of another version")
    with pytest.warns(RuntimeWarning, match="additive is used as shipped.*calibrate"):
        assert isinstance(find_model("additive"), Additive)


def test_there_need_not_be_a_place_for_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPWRIGHT_MODELS", "off")
    assert models_directory() is None
    assert adapted_model("additive") is None
    assert main(["calibrate", "--budget", "1s"]) == 1


def test_networks_cannot_be_adapted() -> None:
    with pytest.raises(LearningError, match="cannot be adapted"):
        Tiramisu({}).adapt([], TrainingOptions())


def test_a_fingerprint_says_which_caches_there_are() -> None:
    target = target_of('{"cpu_name":"znver9","cores":3,"caches":{"L1":1024,"L2":4096}}')
    assert (target.processor, target.cores) == ("znver9", 3)
    assert (target.caches[1], target.caches[2]) == (1024, 4096)
    assert target.caches[3] == Target.host().caches[3]
    assert target_of("no JSON") == Target.host()


def test_labels_with_fast_math_are_stored_as_such(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They were stored as labels without it, which adapted models then learned wrongly from."""
    asked: list[bool] = []

    def store(
        labels: object,
        programs: object,
        directory: object,
        *,
        fast_math: bool = False,
        open_writer: object = None,
        tell: object = None,
    ) -> int:
        asked.append(fast_math)
        return 1

    monkeypatch.setenv("LOOPWRIGHT_MODELS", str(tmp_path))
    monkeypatch.setattr("loopwright.commands.calibrate_run.label_and_store", store)
    for options in ([], ["--fast-math"]):
        assert main(["calibrate", "--budget", "1s", *options]) == 1
    assert asked == [False, True]


def test_calibration_adapts_to_the_labels_of_its_journal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOOPWRIGHT_MODELS", str(tmp_path))
    with Journal(tmp_path / "labels") as journal:
        for number in range(12):
            journal.append(rows_of(labelled_program(number, machine_fingerprint())))

    monkeypatch.setattr("loopwright.commands.calibrate_run.label_and_store", lambda *_, **__: 0)
    result = tmp_path / "result.json"
    command = ["calibrate", "--model", "additive", "--budget", "1s", "--json", str(result)]
    assert main(command) == 0
    assert check_file(result, "calibrate")["programs"] == 12
    assert "3 programs that the model has not learned from" in capsys.readouterr().out
    adapted = adapted_model("additive")
    assert adapted is not None
    stored = load_model(adapted)
    assert stored.card["adapted"]["programs"] == 12
    assert isinstance(find_model("additive"), Additive)
