"""A budget that is too small for a machine still brings a measurement."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from support.documents import check_file

from loopwright.cli import main


def tune(tmp_path: Path, *options: str) -> Path:
    command = "tune polybench/gemm --size MINI --threads 1 --budget 1ms --forget"
    result = tmp_path / "result.json"
    assert main([*command.split(), "--json", str(result), *options]) == 0
    return result


def check(found: dict[str, Any], schedule: str, printed: str) -> None:
    assert found["function"] == "gemm"
    assert (schedule or "as written") == printed.splitlines()[-1]
    assert re.search(r"\b[1-9]\d* (measurements|of \d+ combinations)", printed)


def test_a_search_still_measures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = check_file(tune(tmp_path), "tune")
    check(found, found["result"]["schedule"], capsys.readouterr().out)
    assert found["result"]["measurements"] > 0


def test_a_search_of_tile_sizes_still_measures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = check_file(tune(tmp_path, "--tiles"), "tune-tiles")
    check(found, found["schedule"], capsys.readouterr().out)
    assert found["measured"] > 0


@pytest.mark.parametrize("command", ["run", "tune"])
def test_times_that_nobody_waits_for(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "polybench/gemm", "--size", "MINI", "--seconds", "99999999999"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "--seconds must be at most 1000000000" in line
