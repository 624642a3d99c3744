"""The exit code of `loopwright tune` where Ctrl-C ends a search that has found something."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.cli import main
from loopwright.passes.search.algorithm import Search
from loopwright.passes.search.result import Ended, Result, Task


@pytest.mark.parametrize(("ended", "code"), [("interrupted", 130), ("time", 0)])
def test_the_exit_code_tells_an_interrupt(
    ended: Ended,
    code: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was found is printed and written all the same."""

    def stopped(_: Search, given: Task) -> Result:
        return Result(given.original, 1.0, 2.0, None, (), 1, 1, 1, 1.0, ended)

    monkeypatch.setenv("LOOPWRIGHT_TUNING", "off")
    monkeypatch.setattr("loopwright.runtime.tuning.tune.search", stopped)
    found = tmp_path / "found.mlir"
    command = ["tune", "polybench/atax", "--size", "MINI", "-t", "1", "--budget", "9s"]
    assert main([*command, "-o", str(found)]) == code
    assert found.exists() and "measured" in capsys.readouterr().out
