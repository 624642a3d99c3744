"""`-` names standard input wherever a program or a schedule is read."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from support.runtime_programs import GEMM

from loopwright import opt
from loopwright.cli import main

SIZES = ["--set", "ni=5", "--set", "nj=6", "--set", "nk=7"]


def stdin_has(monkeypatch: pytest.MonkeyPatch, contents: bytes | None) -> None:
    """None: the process was started without."""
    stream = None if contents is None else io.TextIOWrapper(io.BytesIO(contents))
    monkeypatch.setattr(sys, "stdin", stream)


@pytest.mark.parametrize(
    "command",
    [
        ["schedule", "-"],
        ["deps", "-"],
        ["emit", "--llvm", "-"],
        ["run", "-", "-p", "none", "--seconds", "0", *SIZES],
        ["build", "-", "-o", "gemm.o"],
    ],
)
def test_a_program(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    stdin_has(monkeypatch, GEMM.encode())
    assert main(command) == 0
    captured = capsys.readouterr()
    assert captured.out
    assert captured.err == ""


def test_a_schedule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "gemm.mlir"
    file.write_text(GEMM)
    stdin_has(monkeypatch, b"parallel{loops=i}")
    assert main(["schedule", str(file), "-S", "-"]) == 0
    assert "parallel" in capsys.readouterr().out
    stdin_has(monkeypatch, b"parallel{loops")
    assert main(["schedule", str(file), "-S", "-"]) == 1
    assert capsys.readouterr().err.startswith("<stdin>:1:15: error: ")
    stdin_has(monkeypatch, GEMM.encode())
    assert main(["schedule", "-", "-S", "-"]) == 1
    assert capsys.readouterr().err == (
        "loopwright: error: standard input cannot be both the program and the schedule\n"
    )


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (b"", "loopwright: error: <stdin> has no function with a body\n"),
        (b"\xff", "loopwright: error: cannot read standard input: it is not UTF-8 text\n"),
        (None, "loopwright: error: there is no standard input to read\n"),
    ],
)
def test_no_program(
    contents: bytes | None,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stdin_has(monkeypatch, contents)
    assert main(["deps", "-"]) == 1
    assert capsys.readouterr() == ("", message)


def test_mistakes_are_in_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stdin_has(monkeypatch, b"func.func @f() {")
    assert main(["deps", "-"]) == 1
    assert capsys.readouterr().err.startswith("<stdin>:1:17: error: ")


def test_opt(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    stdin_has(monkeypatch, GEMM.encode())
    assert opt.run(["-"]) == 0
    assert "func.func @gemm" in capsys.readouterr().out
