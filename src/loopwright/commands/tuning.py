"""Shares tuned schedules: writes those of the tuning database to a file, or takes over others.

A file has one line of JSON for each schedule, with the program, sizes and machine that it is for.
A place is a file or, with the extra `share`, a URL of an object store that fsspec knows; merge also
takes a folder of such files (.jsonl). Files can be signed with an ed25519 key of OpenSSH. The
schedules of others are proved legal before they are used; a signature says that their times are
those of somebody who is trusted.

Where both sides know a schedule for the same, the faster one stays; of two compilers' schedules
that of the compiler at hand does. LOOPWRIGHT_TUNING names the database.

examples:
  loopwright tuning export tuned.jsonl
  loopwright tuning merge tuned.jsonl others.jsonl
  loopwright tuning export s3://kernels/zen4.jsonl --sign ~/.ssh/id_ed25519
  loopwright tuning merge s3://kernels --trust team.pub
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from ..runtime.choosing.database import default_database
from ..runtime.choosing.database_files import DatabaseFileError, read_entries, write_entries
from ..runtime.choosing.signatures import SignatureError
from ..support.json_records import Document
from ..support.locations import is_url
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
        "files", metavar="PLACE", nargs="+", help="the file to write, or files and folders to read"
    )
    parser.add_argument(
        "--sign", metavar="KEY", type=Path, help="export: sign with this private key (id_ed25519)"
    )
    parser.add_argument(
        "--trust",
        metavar="KEY",
        type=Path,
        action="append",
        default=[],
        help="merge: take only what one of these public keys (id_ed25519.pub) has signed",
    )


def run(arguments: argparse.Namespace) -> int:
    """Exports or merges, and says how much."""
    database = default_database()
    if database is None:
        raise UsageError("LOOPWRIGHT_TUNING is off: there is no database")
    if arguments.action == "export":
        if len(arguments.files) > 1:
            raise UsageError("export writes one file")
        if arguments.trust:
            raise UsageError("--trust is for merge; --sign signs an export")
        (file,) = arguments.files
        if not is_url(file):
            check_output(Path(file))
        try:
            written = write_entries(file, database.entries(), arguments.sign)
        except SignatureError as error:
            raise UsageError(f"--sign: {error}") from error
        print(f"wrote {file}: {written} schedules")
        emit(TuningDocument("export", file, written, None))
        return 0
    if arguments.sign is not None:
        raise UsageError("--sign is for export; --trust checks what is merged")
    try:
        entries = [each for file in arguments.files for each in read_entries(file, arguments.trust)]
    except (DatabaseFileError, SignatureError) as error:
        raise UsageError(str(error)) from error
    taken = database.merge(entries)
    print(f"took over {taken} of {len(entries)} schedules in {database.path}")
    emit(TuningDocument("merge", str(database.path), taken, len(entries)))
    return 0
