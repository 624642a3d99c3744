"""Journal of labels: one line of JSON per program. What `calibrate` keeps, without Arrow.

Each line begins with a checksum of the rest. A line that was not written to its end, or that
something has changed, does not count: its program is labelled again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from ...support.checked_lines import append_line, sound_lines
from .locking import lock
from .rows import Row

NAME = "labels.jsonl"

_BINARY = ("key", "program_key")
"""Columns that are bytes; hexadecimal digits in the file."""


class Journal:
    """Appends programs; what `append` has returned from is safe.

    Used as a context manager. One process at a time adds to a directory: another one gets
    DatasetError.
    """

    def __init__(self, directory: Path) -> None:
        self._lock = lock(directory)
        self._file = (directory / NAME).open("ab")

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._lock.close()

    def append(self, rows: Iterable[Row]) -> None:
        """Adds all rows of a program; raises OSError."""
        text = json.dumps([row_to_text(row) for row in rows], separators=(",", ":")).encode()
        append_line(self._file, text)


def read_journal(directory: Path) -> list[Row]:
    """All rows, of each pair the first; none where there is no journal. Raises OSError."""
    found: dict[bytes, Row] = {}
    for text in sound_lines(directory / NAME):
        for row in json.loads(text):
            sound = row_from_text(row)
            found.setdefault(sound["key"], sound)
    return list(found.values())


def row_to_text(row: Row) -> Row:
    """A row as JSON can say it."""
    return {**row, **{name: row[name].hex() for name in _BINARY}}


def row_from_text(row: Row) -> Row:
    """The row that was made text."""
    return {**row, **{name: bytes.fromhex(row[name]) for name in _BINARY}}
