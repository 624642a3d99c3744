"""The progress line: nothing without a terminal, one line that is removed on a terminal."""

from __future__ import annotations

import io
import sys
import threading
from pathlib import Path

import pytest
from support.shipped_wheels import LOWEST

from loopwright.cli import main
from loopwright.commands.data.labelling_progress import LabellingProgress
from loopwright.support import progress
from loopwright.support.progress import ProgressLine, quiet

SCALE = """\
void scale(int n, double *restrict A) {
  for (int i = 0; i < n; i++) A[i] = 2.0 * A[i];
}
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Standard error; pytest would replace what a fixture puts there."""
    found = Terminal()
    monkeypatch.setattr(sys, "stderr", found)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    return found


def test_silent_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressLine(3) as line:
        line.update("programs", 1)
    assert capsys.readouterr() == ("", "")


def test_silent_where_it_is_to_be_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    with quiet(), ProgressLine(3) as line:
        line.update("programs", 1)
    assert terminal.getvalue() == ""
    with quiet(False), ProgressLine(3) as line:
        line.update("programs", 1)
    assert "programs" in terminal.getvalue()


def test_a_bar_has_its_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 0)
    terminal = on_terminal(monkeypatch)
    with ProgressLine(3) as line:
        for done in range(4):
            line.update("epochs", done)
    assert "/s" in terminal.getvalue()
    assert [progress.rate_text(rate) for rate in (None, 12.0, 0.25)] == ["", "12/s", "4 s each"]


@pytest.mark.parametrize("option", ["--quiet", "-q"])
@pytest.mark.parametrize(
    ("command", "progress", "result"),
    [
        (["verify", "polybench/atax", "polybench/atax"], "comparing atax", "atax: equal"),
        (["schedule", "polybench/atax"], "scheduling atax", "for i"),
        (["emit", "polybench/atax", "--c"], "generating code of atax", "void atax("),
        (
            ["build", "polybench/atax", "--size=MINI", "--wheel=small", f"--levels={LOWEST}"],
            f"atax for {LOWEST}",
            "wrote small-0.1.0",
        ),
        (["build", "scale.c", "-o", "fast.c"], "optimising scale.c", "wrote fast.c: scale"),
    ],
    ids=["verify", "schedule", "emit", "wheel", "drop-in"],
)
def test_commands_are_quiet_when_told_to(
    command: list[str],
    progress: str,
    result: str,
    option: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scale.c").write_text(SCALE)
    terminal = on_terminal(monkeypatch)
    assert main(command) == 0
    assert progress in terminal.getvalue()
    first = capsys.readouterr().out
    terminal = on_terminal(monkeypatch)
    assert main([*command, option]) == 0
    assert terminal.getvalue() == ""
    assert result in first
    assert capsys.readouterr().out == first


def test_a_total_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    threads = threading.active_count()
    with ProgressLine(0) as line:
        line.update("epochs: [error] 0.5", 1, 3)
        assert threading.active_count() == threads
        shown = terminal.getvalue()
        assert "1/3" in shown and "epochs: [error] 0.5" in shown
    assert terminal.getvalue().endswith("\x1b[2K")


def test_the_line_comes_back_after_it_was_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    line = ProgressLine()
    line.update("one")
    line.clear()
    line.clear()
    cleared = len(terminal.getvalue())
    line.update("another")
    assert "another" in terminal.getvalue()[cleared:]
    line.clear()


def test_updates_in_quick_succession_are_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    monkeypatch.setattr(progress, "EVERY", 1e6)
    with ProgressLine() as line:
        for number in range(50):
            line.update(f"schedule {number}")
    assert "schedule 0" in terminal.getvalue() and "schedule 1" not in terminal.getvalue()


def test_the_line_ends_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    with pytest.raises(ValueError, match="no such"), ProgressLine() as line:
        line.update("searching")
        raise ValueError("no such file")
    assert terminal.getvalue().endswith("\x1b[2K")


def test_labelling_counts_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    with LabellingProgress(2) as counts:
        counts.advance(5, 1)
    assert counts.pairs == 5 and counts.rate > 0
    assert "1/2" in terminal.getvalue() and "5 pairs" in terminal.getvalue()
    assert "1 incidents" in terminal.getvalue()
