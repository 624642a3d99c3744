"""Journal of labels: one line of JSON per program. What `calibrate` keeps, without Arrow.

Each line begins with a checksum of the rest. A line that was not written to its end, or that
something has changed, does not count: its program is labelled again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

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
        text = json.dumps([_as_text(row) for row in rows], separators=(",", ":")).encode()
        # What a killed process has left behind is ended by the first line break.
        self._file.write(b"\n%s %s\n" % (_checksum(text), text))
        self._file.flush()
        os.fsync(self._file.fileno())


def read_journal(directory: Path) -> list[Row]:
    """All rows, of each pair the first; none where there is no journal. Raises OSError."""
    try:
        lines = (directory / NAME).read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    found: dict[bytes, Row] = {}
    for row in _sound_rows(lines):
        found.setdefault(row["key"], row)
    return list(found.values())


def _sound_rows(lines: Iterable[bytes]) -> Iterator[Row]:
    for line in lines:
        checksum, _, text = line.partition(b" ")
        if text and checksum == _checksum(text):
            for row in json.loads(text):
                yield {**row, **{name: bytes.fromhex(row[name]) for name in _BINARY}}


def _as_text(row: Row) -> Row:
    return {**row, **{name: row[name].hex() for name in _BINARY}}


def _checksum(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=8).hexdigest().encode()
