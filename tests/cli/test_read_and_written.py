"""A command does not replace what it reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.runtime_programs import DOT

from loopwright.cli import main

OPTIONS = {
    "convert": ["--to", "c", "-o"],
    "report": ["--no-runs", "-o"],
    "tune": ["-o"],
    "deps": ["--dot"],
    "schedule": ["--certificate"],
    "bench": ["--peers", "none", "--csv"],
    "build": ["-o"],
}


@pytest.mark.parametrize("name", ["dot.mlir", "../here/dot.mlir", "link.mlir"])
@pytest.mark.parametrize("command", OPTIONS)
def test_a_program_is_not_replaced(
    command: str,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    Path("dot.mlir").write_text(DOT)
    Path("link.mlir").symlink_to("dot.mlir")
    assert main([command, "dot.mlir", *OPTIONS[command], name]) == 1
    out, err = capsys.readouterr()
    option = OPTIONS[command][-1]
    spelled = "--output" if option == "-o" else option
    assert err == (
        f"loopwright: error: {spelled}: {name} is a file that the command reads; "
        "name another file\n"
    )
    assert out == ""
    assert Path("dot.mlir").read_text() == DOT


def test_results_of_a_run_do_not_replace_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dot.mlir").write_text(DOT)
    np.save("x.npy", np.ones(4))
    assert main(["run", "dot.mlir", "-i", "x=x.npy", "-o", "x=dot.mlir"]) == 1
    assert "dot.mlir is a file that the command reads" in capsys.readouterr().err
    assert Path("dot.mlir").read_text() == DOT


@pytest.mark.parametrize(
    "arguments",
    [
        ["report", "dot.mlir", "--no-runs", "-S", "steps.txt", "-o"],
        ["schedule", "dot.mlir", "-S", "steps.txt", "--plot"],
    ],
)
def test_a_schedule_is_not_replaced(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dot.mlir").write_text(DOT)
    Path("steps.txt").write_text("strip-mine{loops=i size=4}")
    before = Path("steps.txt").read_text()
    assert main([*arguments, "steps.txt"]) == 1
    assert "steps.txt is a file that the command reads" in capsys.readouterr().err
    assert Path("steps.txt").read_text() == before
