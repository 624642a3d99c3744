"""`loopwright train`: model, report, interruption and resuming, mistakes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest
from support.documents import check_file
from support.labels import write_labels

from loopwright.cli import main
from loopwright.costmodel import find
from loopwright.costmodel.learning.pairs import read_pairs
from loopwright.costmodel.learning.spaces import kinds_of, restrict
from loopwright.costmodel.models.array_files import load_arrays, store_arrays
from loopwright.costmodel.models.model_files import load_model

SMALL = [
    *("--option", "statement_layers=24,16", "--option", "loop_layer=16"),
    *("--option", "regression_layers=16,12", "--option", "dropout=0"),
    *("--option", "output=exponential"),
]


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("labels")
    write_labels(directory, 40)
    return directory


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPWRIGHT_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


def train(labels: Path, output: Path, *arguments: str, model: str = "tiramisu") -> int:
    return main(["train", str(labels), "--model", model, *SMALL, "-o", str(output), *arguments])


@pytest.mark.parametrize("model", ["tiramisu", "looper"])
def test_a_model_and_its_report(
    model: str, labels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "a.model"
    result = tmp_path / "result.json"
    options = ("--epochs", "30", "--learning-rate", "0.01", "--json", str(result))
    assert train(labels, output, *options, model=model) == 0
    assert check_file(result, "train")["epochs"] > 0
    printed = capsys.readouterr().out
    assert "MAPE" in printed and "nDCG@5" in printed and "constant" in printed
    stored = load_model(output)
    assert stored.model.name == model
    assert stored.card["data"]["programs"] == 40
    metrics = stored.card["metrics"]
    assert metrics["test"]["mape"] < 0.75 * metrics["constant"]["mape"]
    folder = tmp_path / "a.model.report"
    assert json.loads((folder / "card.json").read_text()) == stored.card
    assert (folder / "report.txt").read_text().startswith(f"model      {model}")
    assert len(list(folder.glob("*.png"))) == 4
    assert not (tmp_path / "a.model.checkpoint").exists()


def test_ctrl_c_keeps_the_best_and_resume_goes_on(labels: Path, tmp_path: Path) -> None:
    output = tmp_path / "a.model"
    command = [
        *(sys.executable, "-m", "loopwright", "train", str(labels), "--model", "tiramisu"),
        *(*SMALL, "-o", str(output), "--epochs", "100", "--patience", "100"),
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    checkpoint = tmp_path / "a.model.checkpoint"
    end = time.monotonic() + 120
    while not checkpoint.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(0.2)
    assert (tmp_path / "a.model.report" / "curve.csv").read_text().startswith("epoch,")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert "interrupted; --resume goes on from there" in errors and "Traceback" not in errors
    card = load_model(output).card
    assert card["training"]["interrupted"] and 0 < card["training"]["epochs"] < 100
    # Another number of epochs is another training, and so are other options.
    assert train(labels, output, "--epochs", "5", "--resume") == 1
    others = ("--epochs", "100", "--patience", "100", "--option", "dropout=0.5", "--resume")
    assert train(labels, output, *others) == 1
    process = subprocess.Popen(
        [*command, "--resume"], env=environment, stderr=subprocess.PIPE, text=True
    )
    time.sleep(0.5)
    _, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    assert load_model(output).card["training"]["epochs"] == 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--epochs", "0"], "--epochs must be at least 1, got 0"),
        (["--share", "2"], "--share must be above 0 and at most 1, got 2"),
        (["--option", "domain"], "--option expects NAME=VALUE, got 'domain'"),
        (["--option", "domain=box"], "the model tiramisu has no option 'domain'"),
        (["--machine", "mainframe"], "has no labelled pairs of a machine with 'mainframe'"),
        (["--resume"], "there is nothing to resume"),
        (["--device", "abacus"], "the device 'abacus' cannot be used here"),
        (["--device", "meta"], "the device 'meta' cannot be used here; give cpu, cuda or cuda:NUM"),
        (
            ["--learning-rate", "1e30"],
            "--learning-rate must be above 0 and less than 10, got 1e+30",
        ),
        (["--option", "dropout=0.1"], "--option gives 'dropout' twice"),
        (["--seed", str(10**30)], "--seed must be less than 9223372036854775808, got 1000"),
        (["--seed", "-1"], "--seed must not be negative, got -1"),
        (["--polybench", "nowhere"], "--polybench: there is no directory nowhere"),
    ],
)
def test_mistakes_are_explained(
    arguments: list[str],
    message: str,
    labels: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert train(labels, tmp_path / "a.model", *arguments) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "a.model").exists()


def test_what_is_in_the_way_is_said_before_the_training(
    labels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint, report = tmp_path / "a.model.checkpoint", tmp_path / "b.model.report"
    for path in (checkpoint, report):
        path.write_text("of before")
    assert train(labels, tmp_path / "a.model") == 1
    message = capsys.readouterr().err
    assert f"{checkpoint} is of a training that was interrupted: --resume goes on" in message
    assert train(labels, tmp_path / "b.model") == 1
    assert f"{report} is in the way" in capsys.readouterr().err
    assert checkpoint.read_text() == report.read_text() == "of before"
    assert sorted(tmp_path.iterdir()) == [checkpoint, report]


def test_kernels_without_labels_are_said_before_the_training(
    labels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    assert train(labels, tmp_path / "a.model", "--polybench", str(tmp_path / "empty")) == 1
    told = capsys.readouterr().err
    assert "empty has no shards of labels" in told and "epoch" not in told


def test_damaged_labels_are_said(
    labels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(labels, damaged)
    (damaged / "pairs-0123456789abcdef.parquet").write_bytes(b"no shard")
    assert train(damaged, tmp_path / "a.model", "--epochs", "1") == 0
    assert "warning: left out: " in capsys.readouterr().err
    for shard in [*damaged.glob("*.parquet"), *damaged.glob("copies/*.parquet")]:
        shard.write_bytes(b"no shard")
    assert train(damaged, tmp_path / "b.model") == 1
    assert "damaged has damaged shards of labels only" in capsys.readouterr().err


def test_too_few_programs_no_shards_no_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_labels(tmp_path / "few", 2)
    (tmp_path / "none").mkdir()
    assert train(tmp_path / "few", tmp_path / "a.model") == 1
    assert "labels of 2 programs here, too few" in capsys.readouterr().err
    assert train(tmp_path / "none", tmp_path / "a.model") == 1
    assert "has no shards of labels" in capsys.readouterr().err
    assert train(tmp_path / "nowhere", tmp_path / "a.model") == 1
    assert "is not a directory" in capsys.readouterr().err
    assert train(tmp_path / "few", tmp_path / "no" / "a.model") == 1
    assert "there is no directory" in capsys.readouterr().err
    assert train(tmp_path / "few", tmp_path / "a.model", model="tiramissu") == 1
    assert "no model 'tiramissu'; did you mean tiramisu?" in capsys.readouterr().err


def test_the_space_of_tiramisu(labels: Path) -> None:
    kept = restrict(read_pairs(labels), "tiramisu")
    assert len(kept) == 20 and all("xf64" in program.text for program in kept)
    for program in kept:
        assert sorted(program.schedules) == [
            "tile{loops=i,j sizes=8,16}",
            "unroll{loops=k factor=4}",
        ]
        assert len(program.speedups) == len(program.threads) == len(program.censored) == 2


def test_kinds_of_steps() -> None:
    text = "affine-schedule,tile{loops=i,j sizes=8,8},unroll-and-jam{loops=i factor=2}"
    assert kinds_of(text) == {"affine-schedule", "tile", "unroll-and-jam"}


def test_a_cut_model_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "cut.npz"
    whole = (Path(find.__file__).parent / "weights" / "additive.npz").read_bytes()
    for length in (0, 4, 1000, len(whole) // 2):
        file.write_bytes(whole[:length])
        command = ["tune", "polybench/gemm", "--size", "MINI", "--model", str(file)]
        assert main(command) == 1
        assert f"{file} is not a file of loopwright train" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("model", "option", "limits"),
    [
        ("additive", "depth=40", ""),
        ("ensemble", "networks=0", ""),
        ("tiramisu", "dropout=2", "from 0 to 0.95, not 2"),
        ("tiramisu", "loop_layer=0", "from 1 to 1,000,000, not 0"),
    ],
)
def test_options_have_limits(
    model: str,
    option: str,
    limits: str,
    labels: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = ["train", str(labels), "--model", model, "--option", option]
    assert main([*command, "-o", str(tmp_path / "a.model")]) == 1
    assert f"option {option.partition('=')[0]} is {limits}" in capsys.readouterr().err


def test_a_model_without_end_is_refused(
    labels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["train", str(labels), "--model", "looper", "--option", "step_size=1000000"]
    assert main([*command, "-o", str(tmp_path / "a.model")]) == 1
    assert "not enough memory for a model of this size" in capsys.readouterr().err


def test_only_files_are_replaced(
    labels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert train(labels, pipe) == 1
    assert f"{pipe} is no ordinary file, and would be replaced" in capsys.readouterr().err
    assert pipe.is_fifo()


def test_ctrl_c_waits_until_a_file_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = np.savez

    def save_and_interrupt(file: IO[bytes], **arrays: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        save(file, **arrays)

    monkeypatch.setattr(np, "savez", save_and_interrupt)
    with pytest.raises(KeyboardInterrupt):
        store_arrays(tmp_path / "a.npz", {"number": 3})
    assert load_arrays(tmp_path / "a.npz") == {"number": 3}
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_cache_that_cannot_be_written_is_done_without(
    labels: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    in_the_way = tmp_path / "cache"
    in_the_way.write_text("no folder")
    monkeypatch.setenv("LOOPWRIGHT_CACHE", str(in_the_way))
    assert train(labels, tmp_path / "a.model", "--epochs", "1") == 0
    assert "features are not kept" in capsys.readouterr().err
