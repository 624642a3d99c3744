"""Shares tuned schedules: writes those of the tuning database to a file, or takes over others.

A file has one line of JSON for each schedule, with the program, sizes and machine that it is for.
Where both sides know a schedule for the same, the faster one stays; of two compilers' schedules
that of the compiler at hand does. LOOPWRIGHT_TUNING names the database.

examples:
  loopwright tuning export tuned.jsonl
  loopwright tuning merge tuned.jsonl others.jsonl
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from ..runtime.choosing.database import default_database
from ..runtime.choosing.database_files import DatabaseFileError, read_entries, write_entries
from ..support.json_records import Document
from . import UsageError
from .common import check_output
from .json_output import emit


@dataclass(frozen=True)
class TuningDocument(Document):
    """Result of `loopwright tuning`."""

    document: ClassVar[str] = "tuning"

    action: Annotated[str, "export or merge"]
    file: Annotated[str, "the file that was written; merge: the database"]
    schedules: Annotated[int, "schedules that were written or taken over"]
    read: Annotated[int | None, "schedules in the files; null: export"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to do, and the files."""
    parser.add_argument("action", choices=("export", "merge"), help="write a file, or read files")
    parser.add_argument(
        "files", metavar="FILE", type=Path, nargs="+", help="the file to write, or those to read"
    )


def run(arguments: argparse.Namespace) -> int:
    """Exports or merges, and says how much."""
    database = default_database()
    if database is None:
        raise UsageError("LOOPWRIGHT_TUNING is off: there is no database")
    if arguments.action == "export":
        if len(arguments.files) > 1:
            raise UsageError("export writes one file")
        (file,) = arguments.files
        check_output(file)
        written = write_entries(file, database.entries())
        print(f"wrote {file}: {written} schedules")
        emit(TuningDocument("export", str(file), written, None))
        return 0
    try:
        entries = [entry for file in arguments.files for entry in read_entries(file)]
    except DatabaseFileError as error:
        raise UsageError(str(error)) from error
    taken = database.merge(entries)
    print(f"took over {taken} of {len(entries)} schedules in {database.path}")
    emit(TuningDocument("merge", str(database.path), taken, len(entries)))
    return 0
