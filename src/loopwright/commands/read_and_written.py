"""Programs that a command reads are not what it writes."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import cast

from . import UsageError

_WRITTEN = ("output", "plot", "dot", "svg", "csv", "json")
_READ = ("file", "files", "kernels", "first", "second")


def check_files_apart(arguments: argparse.Namespace) -> None:
    """Raises UsageError where an option names a program that the command reads."""
    programs = [Path(each) for name in _READ for each in _values(arguments, name)]
    for option in _WRITTEN:
        for value in _values(arguments, option):
            file = Path(value.rpartition("=")[2])  # `run` has NAME=FILE, too
            if any(_are_same(file, program) for program in programs):
                raise UsageError(
                    f"--{option}: {file} is a program that the command reads; name another file"
                )


def _values(arguments: argparse.Namespace, name: str) -> list[str]:
    value: object = getattr(arguments, name, None)
    if isinstance(value, list):
        return [str(each) for each in cast("list[object]", value)]
    return [] if value is None else [str(value)]


def _are_same(first: Path, second: Path) -> bool:
    return first.is_file() and second.is_file() and first.samefile(second)
