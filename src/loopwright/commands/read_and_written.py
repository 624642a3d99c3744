"""Files that a command reads are not what it writes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar, cast

from . import UsageError
from .file_arguments import ReadFile, WrittenFile

_Kind = TypeVar("_Kind", ReadFile, WrittenFile)


def check_files_apart(arguments: argparse.Namespace) -> None:
    """Raises UsageError where an option names a file that the command reads."""
    read = [Path(each) for _, each in _values(arguments, ReadFile)]
    for option, value in _values(arguments, WrittenFile):
        file = Path(value.rpartition("=")[2])  # `run` has NAME=FILE, too
        if any(_are_same(file, other) for other in read):
            raise UsageError(
                f"--{option}: {file} is a file that the command reads; name another file"
            )


def _values(arguments: argparse.Namespace, kind: type[_Kind]) -> Iterator[tuple[str, _Kind]]:
    """The arguments of a kind, with what they are called."""
    for name, value in cast("dict[str, object]", vars(arguments)).items():
        values = cast("list[object]", value) if isinstance(value, list) else [value]
        yield from ((name, each) for each in values if isinstance(each, kind))


def _are_same(first: Path, second: Path) -> bool:
    return first.is_file() and second.is_file() and first.samefile(second)
