"""Labels of several workers in a shared folder, put together at the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from support.labels import labelled_program

from loopwright.cli import main
from loopwright.commands.data.cluster import put_together
from loopwright.costmodel.dataset.shards import list_shards, read_table
from loopwright.costmodel.labels import Incident, LabelledProgram
from loopwright.runtime.labelling.shared_folder import label_in_share
from loopwright.support.shared_work import SharedWork, progress

PROGRAMS = 40


def label(items: Iterable[int]) -> Generator[LabelledProgram]:
    for item in items:
        time.sleep(0.002)
        yield labelled_program(item)


def share(folder: Path) -> list[int]:
    work = SharedWork(folder, "", PROGRAMS, lease=1)
    return [labelled.item for labelled in label_in_share(work, label)]


def test_labels_of_all_workers_come_together_once(tmp_path: Path) -> None:
    folder, output = tmp_path / "shared", tmp_path / "labels"
    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(share, [folder, folder])
    assert sorted(first + second) == list(range(PROGRAMS))
    assert put_together(folder, output) == PROGRAMS
    assert put_together(folder, output) == 0, "they are there already"
    seeds = read_table(list_shards(output).shards, ["seed"]).column("seed").to_pylist()
    assert set(seeds) == set(range(PROGRAMS))


def test_what_went_wrong_has_no_labels(tmp_path: Path) -> None:
    def fail(items: Iterable[int]) -> Generator[LabelledProgram]:
        for item in items:
            hang = Incident("compile-hang", "no answer", "", {}, "", 0)
            yield replace(labelled_program(item), incidents=(hang,), labels=(), baseline=None)

    work = SharedWork(tmp_path, "", 5)
    assert [each.item for each in label_in_share(work, fail)] == list(range(5))
    assert progress(tmp_path).done == 0


@pytest.mark.parametrize(
    ("kind", "line"), [("slurm", "#SBATCH --array=0-99"), ("pbs", "#PBS -J 0-99")]
)
def test_scripts_of_job_arrays(
    kind: str, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [
        "data",
        "generate",
        "--programs",
        "9",
        "-o",
        "my labels",
        "--cluster-folder",
        "shared",
    ]
    arguments = [*command, "--cluster", kind, "--jobs", "100"]
    monkeypatch.setattr(sys, "argv", ["loopwright", *arguments])
    assert main() == 0
    script = capsys.readouterr().out.splitlines()
    assert script[0] == "#!/bin/sh" and line in script
    assert script[-1].endswith(
        "exec loopwright data generate --programs 9 -o 'my labels' --cluster-folder shared"
    )
    assert not Path("shared").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--cluster-folder", "shared", "--scheduler", "tcp://a:1"],
            "--cluster-folder takes no --scheduler",
        ),
        (
            ["--cluster-folder", "shared", "--cluster", "slurm", "--jobs", "0"],
            "--jobs must be positi",
        ),
        (["--cluster", "slurm"], "--cluster slurm needs a folder that all jobs see"),
        (["--cluster", "dask"], "--cluster dask needs the address of its scheduler"),
        (["--cluster", "shared"], "invalid choice: 'shared'"),
    ],
)
def test_mistakes_are_told(
    options: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["data", "generate", "--programs", "2", "-o", "labels", *options]) == 1
    assert message in capsys.readouterr().err


def test_a_folder_of_other_work_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    SharedWork(tmp_path, "something else", 2)
    command = ["data", "generate", "--programs", "2", "-o", str(tmp_path / "labels")]
    assert main([*command, "--cluster-folder", str(tmp_path)]) == 1
    assert "is for other work: description is 'something else' there" in capsys.readouterr().err
