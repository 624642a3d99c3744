"""Files that never end are refused in one line, and do not fill the memory."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.runtime_programs import GEMM

from loopwright import certificate as checker
from loopwright.cli import main

# Commands in one child, which may have 8 GB of memory.
COMMANDS = """
import os, resource, sys
from loopwright import opt
from loopwright import certificate as checker
from loopwright.cli import main
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
program, folder = sys.argv[1:]
sizes = ["--set", "ni=5", "--set", "nj=6", "--set", "nk=7"]
for name in ("z.mlir", "z.c", "z.py", "z.npz", "z.json"):
    os.symlink("/dev/zero", f"{folder}/{name}")
codes = [
    main(["run", f"{folder}/z.mlir"]),
    main(["run", "-"]),
    main(["schedule", f"{folder}/z.c"]),
    main(["schedule", f"{folder}/z.py"]),
    main(["run", program, "--schedule-file", f"{folder}/z.json", *sizes]),
    main(["tune", program, "--model", f"{folder}/z.npz", *sizes]),
    checker.main([f"{folder}/z.json"]),
    main(["tuning", "merge", f"file://{folder}/z.json"]),
    main(["tuning", "merge", f"file://{folder}/none.json"]),
]
assert codes == [1] * 9, codes
opt.main([])
"""


def test_commands(tmp_path: Path) -> None:
    program = tmp_path / "gemm.mlir"
    program.write_text(GEMM)
    with Path("/dev/zero").open("rb") as endless:
        result = subprocess.run(
            [sys.executable, "-c", COMMANDS, str(program), str(tmp_path)],
            stdin=endless,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert result.returncode == 1, result.stderr
    lines = [*result.stdout.splitlines(), *result.stderr.splitlines()]
    assert len(lines) == 10, lines
    assert sum("more than 64 MiB" in line for line in lines) == 8, lines
    assert sum("there is no such file or folder" in line for line in lines) == 1, lines


def test_a_model_that_grows_when_it_is_unpacked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, model = tmp_path / "gemm.mlir", tmp_path / "model.npz"
    program.write_text(GEMM)
    with zipfile.ZipFile(model, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", bytes(1 << 27))
    sizes = ("--set", "ni=5", "--set", "nj=6", "--set", "nk=7")
    assert main(["tune", str(program), "--model", str(model), *sizes]) == 1
    assert "is not a file of loopwright train" in capsys.readouterr().err


def test_a_certificate_says_why(tmp_path: Path) -> None:
    file = tmp_path / "deep.json"
    file.write_text("[" * 200_000)
    command = [sys.executable, checker.__file__, str(file)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 1
    assert result.stdout.partition("rejected: ")[2].strip()
