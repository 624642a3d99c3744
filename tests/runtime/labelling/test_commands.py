"""`loopwright data`: generating, going on after an end of any kind, what is done with labels."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.documents import check_file

from loopwright.cli import main
from loopwright.commands.data.labelling import label_and_store
from loopwright.costmodel.dataset import shards
from loopwright.costmodel.dataset.schema import table_of
from loopwright.costmodel.dataset.shards import list_shards, read_rows, read_table, write_shard
from loopwright.costmodel.dataset.statistics import summarise
from loopwright.costmodel.labels import Incident, LabelledProgram, ProgramInstance
from loopwright.costmodel.learning.pairs import read_pairs
from loopwright.runtime.program import load

GENERATE = ["data", "generate", "--seed", "11", "--schedules", "2,4", "--workers", "1"]


def start(directory: Path, programs: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "loopwright", *GENERATE),
            *("--programs", str(programs), "-o", str(directory)),
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def keys(directory: Path) -> list[bytes]:
    table = read_table(list_shards(directory).shards)
    return [key.as_py() for key in table["key"]]


def count(directory: Path) -> int:
    """Programs that are done, whether they could be measured or not."""
    table = dict(summarise(directory))
    return int(table["programs"]) + int(table["programs that cannot be measured"])


def children_of(process: int) -> list[int]:
    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True
    )
    return [int(line) for line in found.stdout.split()]


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("labelled")
    result = directory.parent / "labelled.json"
    command = [*GENERATE, "--programs", "3", "-o", str(directory), "--json", str(result)]
    assert main(command) == 0
    assert check_file(result, "data-labelling")["pairs"] > 0
    return directory


def test_generate(labelled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "stats", str(labelled)]) == 0
    table = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines())
    assert table["programs"].strip() == "3"
    assert table["machines"].strip() == "1"
    assert 6 <= int(table["labelled pairs"]) <= 12
    assert main(["data", "check", str(labelled)]) == 0
    assert "0 problems" in capsys.readouterr().out


def test_the_same_command_again_does_nothing(
    labelled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = keys(labelled)
    assert main([*GENERATE, "--programs", "3", "-o", str(labelled)]) == 0
    assert "3 programs are labelled already" in capsys.readouterr().err
    assert keys(labelled) == before


def test_export(labelled: Path, tmp_path: Path) -> None:
    rows = len(keys(labelled))
    for name in ("labels.csv", "labels.jsonl", "labels.parquet"):
        assert main(["data", "export", str(labelled), "-o", str(tmp_path / name)]) == 0
    with (tmp_path / "labels.csv").open() as file:
        assert len(list(csv.DictReader(file))) == rows
    lines = (tmp_path / "labels.jsonl").read_text().splitlines()
    assert len(lines) == rows
    first = json.loads(lines[0])
    assert "func.func @program" in first["program"]
    assert json.loads(first["machine"])["cores"] >= 1
    assert main(["data", "export", str(labelled), "-o", str(tmp_path / "labels.xls")]) == 1


def test_merge(labelled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "all"
    assert main(["data", "merge", str(labelled), str(labelled), "-o", str(target)]) == 0
    rows = len(keys(labelled))
    assert f"{rows} rows" in capsys.readouterr().out
    assert sorted(keys(target)) == sorted(keys(labelled))


def test_a_damaged_directory_is_put_right(
    labelled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["data", "merge", str(labelled), "-o", str(tmp_path)]) == 0
    for shard in tmp_path.rglob("pairs-*.parquet"):
        shard.write_bytes(b"PAR1")
    (tmp_path / "pairs-00.parquet.99999999.writing").touch()
    capsys.readouterr()
    assert main(["data", "check", str(tmp_path)]) == 1
    assert "2 problems" in capsys.readouterr().out
    assert main(["data", "check", str(tmp_path), "--fix"]) == 0
    assert main([*GENERATE, "--programs", "1", "-o", str(tmp_path)]) == 0
    assert count(tmp_path) == 1


def test_rows_that_are_there_twice_are_put_right(
    labelled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = list(read_rows(list_shards(labelled).shards[0]))
    write_shard(tmp_path, table_of(rows))
    write_shard(tmp_path, table_of(rows[:2]))
    assert main(["data", "check", str(tmp_path)]) == 1
    assert "2 rows are there twice" in capsys.readouterr().out
    assert main(["data", "check", str(tmp_path), "--fix"]) == 0
    assert sorted(keys(tmp_path)) == sorted(row["key"] for row in rows)


@pytest.mark.parametrize(("kind", "stored"), [("refused", 1), ("run-crash", 0), ("memory", 0)])
def test_programs_that_the_machine_failed_are_tried_again(
    kind: str, stored: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    instance = ProgramInstance("func.func @program() { return }", {}, "random", 5)
    incident = Incident(kind, "why", instance.text, {}, "", 5)
    failed = LabelledProgram(0, instance, {}, None, "{}", "{}", incidents=(incident,))
    assert label_and_store((each for each in [failed]), 1, tmp_path) == 0
    assert len(keys(tmp_path)) == stored
    assert ("tries them again" in capsys.readouterr().out) == (not stored)


def test_what_cannot_be_read_is_said(
    labelled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged, target = tmp_path / "damaged", tmp_path / "target"
    assert main(["data", "merge", str(labelled), "-o", str(damaged)]) == 0
    for shard in damaged.rglob("pairs-*.parquet"):
        shard.write_bytes(b"PAR1")
    capsys.readouterr()
    assert main(["data", "stats", str(damaged)]) == 0
    assert "warning: left out" in capsys.readouterr().err
    assert main(["data", "merge", str(damaged), str(labelled), "-o", str(target)]) == 1
    assert "warning: left out" in capsys.readouterr().err
    assert main(["data", "export", str(damaged), "-o", str(tmp_path / "labels.csv")]) == 1
    assert "warning: left out" in capsys.readouterr().err


def test_shards_of_another_version_stay(
    labelled: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["data", "merge", str(labelled), "-o", str(tmp_path)]) == 0
    before = sorted(path.name for path in tmp_path.glob("*.parquet"))
    monkeypatch.setattr(shards, "SCHEMA_VERSION", shards.SCHEMA_VERSION - 1)
    for action in (["stats"], ["check", "--fix"]):
        assert main(["data", *action, str(tmp_path)]) == 1
        assert "schema version" in capsys.readouterr().err
    assert main([*GENERATE, "--programs", "1", "-o", str(tmp_path)]) == 1
    assert sorted(path.name for path in tmp_path.glob("*.parquet")) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["generate", "--memory", "nan", "--programs", "1", "-o", "x"],
        ["generate", "--memory", "0.01", "--programs", "1", "-o", "x"],
        ["generate", "--programs", "0", "-o", "x"],
        ["generate", "--programs", "99999999999999999999", "-o", "x"],
        ["generate", "--cutoff", "nan", "--programs", "1", "-o", "x"],
        ["generate", "--scheduler", "nonsense", "--programs", "1", "-o", "x"],
        ["generate", "--scheduler", "tcp://x:y", "--programs", "1", "-o", "x"],
        ["cover", "--programs", "0"],
    ],
)
def test_bad_arguments_are_one_line(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["data", *arguments]) == 1
    error = capsys.readouterr().err
    assert error.startswith("loopwright: error: --") and error.count("\n") == 1


def test_pairs_are_labelled_again(
    labelled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = tmp_path / "again.json"
    options = ["--pairs", "3", "--workers", "1", "--json", str(result)]
    assert main(["data", "retest", str(labelled), *options]) == 0
    assert check_file(result, "data-retest")["pairs"] == 3
    out = capsys.readouterr().out
    assert "3 pairs were measured again" in out and "median absolute difference" in out


def test_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "show", "5"]) == 0
    text = capsys.readouterr().out
    assert list(load(text)) == ["program"]
    assert "// sizes: --set" in text


@pytest.mark.parametrize(
    "wrong",
    [
        ["generate", "--programs", "0", "-o", "x"],
        ["generate", "--programs", "1", "--schedules", "9", "-o", "x"],
        ["generate", "--programs", "1", "--schedules", "9,3", "-o", "x"],
        ["generate", "--programs", "1", "--threads", "0", "-o", "x"],
        ["generate", "--programs", "1", "--cutoff", "0.5", "-o", "x"],
        ["generate", "--programs", "1", "--seed", "-1", "-o", "x"],
        ["stats", "missing"],
        ["check", "missing"],
        ["merge", "missing", "-o", "x"],
        ["nothing"],
    ],
)
def test_mistakes_are_one_line(
    wrong: list[str],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["data", *wrong]) == 1
    error = capsys.readouterr().err
    assert error.startswith("loopwright: error: ") and error.count("\n") == 1


def test_how_many_pairs_to_measure_again(capsys: pytest.CaptureFixture[str]) -> None:
    for option, value, message in (
        ("--pairs", "0", "--pairs must be positive, got 0"),
        ("--seed", "-1", "--seed must not be negative, got -1"),
    ):
        assert main(["data", "retest", ".", option, value]) == 1
        assert message in capsys.readouterr().err


def test_killed_and_started_again(tmp_path: Path) -> None:
    """After `kill -9` no process is left, and the same command completes what is missing."""
    process = start(tmp_path, 4)
    deadline = time.monotonic() + 90
    while len(children_of(process.pid)) < 2:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    time.sleep(1.0)
    children = children_of(process.pid)
    process.kill()
    process.communicate()
    while any(Path(f"/proc/{child}").exists() for child in children):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    again = start(tmp_path, 4)
    out, err = again.communicate(timeout=120)
    assert again.returncode == 0, err
    assert "pairs/s" in out
    assert count(tmp_path) == 4
    found = keys(tmp_path)
    assert len(found) == len(set(found))


def test_interrupted(tmp_path: Path) -> None:
    process = start(tmp_path, 500)
    deadline = time.monotonic() + 90
    while len(children_of(process.pid)) < 2:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    time.sleep(3.0)
    children = children_of(process.pid)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on" in err and "Traceback" not in err
    assert "pairs/s" in out
    assert not any(Path(f"/proc/{child}").exists() for child in children)


def test_labels_with_fast_math_are_labels_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [*GENERATE, "--programs", "1", "-o", str(tmp_path)]
    assert main(command) == 0
    rows = len(keys(tmp_path))
    assert main([*command, "--fast-math"]) == 0
    assert main([*command, "--fast-math"]) == 0
    assert "1 programs are labelled already" in capsys.readouterr().err
    assert len(keys(tmp_path)) > rows
    assert main(["data", "check", str(tmp_path)]) == 0
    assert {pairs.fast_math for pairs in read_pairs(tmp_path)} == {False, True}
