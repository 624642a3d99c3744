"""`loopwright report`: mistakes on its command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.runtime_programs import GEMM

from loopwright.cli import main


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seconds", "0"], "--seconds must be positive, got 0.0"),
        (["--peers", "clangg"], "no peer 'clangg'; there are clang, "),
        (["--threads", "0"], "--threads must be between 1 and "),
        (["--size", "MINI"], "--size is for shipped kernels"),
        (["-o", "nowhere/report.html"], "there is no directory nowhere"),
        (["--set", "ni=many"], "--set ni: a size is a number, got 'many'"),
        (["-p", "tile{loops=x sizes=4}"], "there is no loop x"),
        (["-p", "default"], "the default schedule of gemm needs sizes; add --set ni=..."),
    ],
)
def test_mistakes(
    options: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gemm.mlir").write_text(GEMM)
    assert main(["report", "gemm.mlir", *options]) == 1
    error = capsys.readouterr().err
    assert error.startswith("loopwright: error: ") and message in error
    assert not Path("report.html").exists()


def test_peers_are_for_shipped_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gemm.mlir").write_text(GEMM)
    assert main(["report", "gemm.mlir", "--peers", "numpy"]) == 1
    assert "--peers is for shipped kernels" in capsys.readouterr().err
