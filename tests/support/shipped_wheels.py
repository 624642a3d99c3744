"""Wheels of small programs: built, unpacked, and run in a process that has no loopwright."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from loopwright.cli import main

from .runtime_programs import DOT, FIXED, GEMM, SCALARS

PARALLEL = "tile{loops=i,j sizes=8,16},parallel{loops=it},vectorize{loops=j}"


def build_wheel(folder: Path, name: str, programs: Mapping[str, str], *options: str) -> Path:
    """The wheel of some programs' functions."""
    folder.mkdir(exist_ok=True)
    files = [folder / f"{program}.mlir" for program in programs]
    for file, text in zip(files, programs.values(), strict=True):
        file.write_text(text)
    command = ["build", *map(str, files), "--wheel", name, "-o", str(folder), *options]
    assert main(command) == 0
    (wheel,) = folder.glob(f"{name}-*.whl")
    return wheel


def small_wheel(folder: Path, *options: str) -> Path:
    """A wheel of functions with sizes, static shapes, and results of all types."""
    programs = {"dot": DOT, "scalars": SCALARS, "fixed": FIXED, "gemm": GEMM}
    return build_wheel(folder, "small", programs, "-p", "", *options)


def unpack(wheel: Path, folder: Path) -> Path:
    """The folder that a process finds the module of a wheel in."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run_python(
    folder: Path, code: str, environment: Mapping[str, str] | None = None, *before: str
) -> str:
    """What a process prints that finds modules in `folder`, and NumPy, and nothing else."""
    numpy = folder / "only_numpy"
    if not numpy.exists():
        numpy.mkdir()
        packages = Path(np.__file__).parents[1]
        for name in ("numpy", "numpy.libs"):
            if (packages / name).exists():
                (numpy / name).symlink_to(packages / name)
    variables = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{folder}:{numpy}",
        **(environment or {}),
    }
    command: Sequence[str] = [*before, sys.executable, "-S", "-c", code]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout
