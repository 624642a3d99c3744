"""Files of the served folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.serving.root_folder import RootFolder
from loopwright.session.problems import CallError


@pytest.mark.parametrize("name", ["f.c", "f.py"])
def test_other_languages_are_to_be_converted_first(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("raise SystemExit\n")
    with pytest.raises(CallError, match=rf"{name}: .* are not served") as caught:
        RootFolder(tmp_path).read(name)
    assert "loopwright convert" in str(caught.value.problem.remedy)


def test_a_file_that_was_there_is_not_replaced(tmp_path: Path) -> None:
    program = tmp_path / "program.mlir"
    program.write_text("func.func @f() { return }\n")
    folder = RootFolder(tmp_path)
    with pytest.raises(CallError, match=r"program\.mlir: is there already") as caught:
        folder.write("program.mlir", "schedule.sequence @f {}\n")
    assert caught.value.problem.remedy == "choose another name"
    assert "func.func" in program.read_text()
    for text in ("one\n", "two\n"):
        folder.write("found.mlir", text)
    assert (tmp_path / "found.mlir").read_text() == "two\n"


@pytest.mark.parametrize("name", ["", "x" * 100_000])
def test_what_is_no_name_is_answered_shortly(name: str, tmp_path: Path) -> None:
    with pytest.raises(CallError, match="no name of a file") as caught:
        RootFolder(tmp_path).read(name)
    assert len(str(caught.value)) < 200
