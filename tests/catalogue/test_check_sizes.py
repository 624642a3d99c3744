"""The program that runs kernels at large sizes: verdicts, and going on where it stopped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[1] / "check_sizes.py"


def check(file: Path, *arguments: str) -> tuple[int, str]:
    """Exit code and output of the program."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(PROGRAM), "MINI", "polybench/gemm", "--verdicts", str(file)]
    done = subprocess.run([*command, *arguments], env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout


def verdicts(file: Path) -> list[tuple[str, str]]:
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    return [(line["schedule"], line["verdict"]) for line in lines]


def test_verdicts(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.jsonl"
    code, output = check(file, "--schedules", "all,parallel{loops=k}")
    assert code == 1
    assert verdicts(file) == [("all", "ok"), ("parallel{loops=k}", "error")]
    assert "all: ok" in output and "error (parallel of k is illegal" in output
    assert check(file, "--schedules", "all")[0] == 0
    assert len(verdicts(file)) == 2


def test_too_slow_is_no_failure(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.jsonl"
    code, output = check(file, "--schedules", "tile", "--limit", "0.01")
    assert code == 0
    assert verdicts(file) == [("tile", "too slow")]
    assert "tile: too slow" in output
    assert check(file, "--schedules", "tile", "--limit", "60")[0] == 0
    assert verdicts(file) == [("tile", "too slow"), ("tile", "ok")]
