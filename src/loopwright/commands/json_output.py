"""The option `--json`: results of commands as documents with a schema.

Without a file, standard output has JSON lines and nothing else: documents of progress during long
work, then the result, or the problem. With a file, that has the result, and all else is as without
the option.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, TextIO

from ..session.records import Problem
from ..support.json_records import Document
from ..support.output_files import write_output
from ..support.progress import report_progress
from . import STANDARD_OUTPUT, UsageError
from .common import check_output

_SUFFIXES = (".json", ".jsonl")


@dataclass(frozen=True)
class ProgressDocument(Document):
    """How far long work has come."""

    document: ClassVar[str] = "progress"

    command: Annotated[str, "the command"]
    message: Annotated[str, "what is being done"]
    completed: Annotated[int | None, "how much is done"]
    total: Annotated[int | None, "how much there is"]
    seconds: Annotated[float, "since the command was started"]


@dataclass(frozen=True)
class ProblemDocument(Document):
    """Why a command has no result."""

    document: ClassVar[str] = "problem"

    command: Annotated[str, "the command"]
    problem: Annotated[Problem, "what went wrong"]


@dataclass
class _Output:
    """Where documents go: lines to a stream, or the result to a file."""

    command: str
    stream: TextIO | None
    file: Path | None


_current: _Output | None = None


@contextlib.contextmanager
def json_output(command: str, arguments: argparse.Namespace) -> Generator[None]:
    """Gives what `emit` and `report` are told the place that `--json` names; raises UsageError."""
    global _current
    place: str | None = getattr(arguments, "json", None)
    if place is None:
        yield
        return
    is_stream = place == STANDARD_OUTPUT
    if not is_stream:
        _check(Path(place))
    before = _current
    stream = sys.stdout if is_stream else None
    _current = _Output(command, stream, None if is_stream else Path(place))
    try:
        if stream is None:
            yield
        else:
            with contextlib.redirect_stdout(io.StringIO()), report_progress(_progress):
                yield
    finally:
        _current = before


def is_wanted() -> bool:
    """Whether the result is to be JSON: what costs time is then worth finding out."""
    return _current is not None


def is_alone() -> bool:
    """Whether standard output has JSON and nothing else."""
    return _current is not None and _current.stream is not None


def emit(result: Document) -> None:
    """Writes the result of a command, where `--json` asks for it; raises OSError."""
    if _current is not None and _current.file is not None:
        write_output(_current.file, json.dumps(result.to_json(), indent=1, allow_nan=False) + "\n")
    report(result)


def report(event: Document) -> None:
    """Writes a line of JSON lines."""
    if _current is not None and _current.stream is not None:
        print(json.dumps(event.to_json(), allow_nan=False), file=_current.stream, flush=True)


def report_problem(problem: Problem) -> None:
    """Writes why there is no result."""
    if _current is not None:
        report(ProblemDocument(_current.command, problem))


def _progress(message: str, completed: int | None, total: int | None, seconds: float) -> None:
    assert _current is not None, "it is told inside of json_output"
    report(ProgressDocument(_current.command, message, completed, total, round(seconds, 3)))


def _check(file: Path) -> None:
    """A program is not to be overwritten where its name stands behind the option."""
    if file.is_file() and file.suffix not in _SUFFIXES:
        raise UsageError(f"--json: {file} exists, and is no {' or '.join(_SUFFIXES)} file")
    check_output(file)
