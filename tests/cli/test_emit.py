"""`loopwright emit` with a schedule that is chosen: how many threads it plans for."""

from __future__ import annotations

import pytest

from loopwright.cli import main

COMMAND = ("emit", "polybench/gemm", "--size", "SMALL", "--mlir", "-p", "default")


def test_default_plans_for_the_threads_of_the_runtime(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*COMMAND]) == 0
    assert "func.func @gemm" in capsys.readouterr().out


def test_threads_are_at_least_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*COMMAND, "-t", "0"]) == 1
    assert "--threads must be at least 1, got 0" in capsys.readouterr().err
