"""Append-only files of lines with checksums: what was not written to its end does not count."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


def append_line(file: IO[bytes], text: bytes) -> None:
    """Adds a line to a file that is open for appending; it is on the disk then. Raises OSError."""
    with naming(file.name):
        # What a killed process has left behind is ended by the first line break.
        file.write(b"\n%s %s\n" % (_checksum(text), text))
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def naming(path: str | Path) -> Generator[None]:
    """Errors of open files say which it is: the system does not, such as where a disk is full."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def sound_lines(path: Path) -> Iterator[bytes]:
    """The texts of all lines that are whole; none where there is no file. Raises OSError."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return
    for line in lines:
        checksum, _, text = line.partition(b" ")
        if text and checksum == _checksum(text):
            yield text


def _checksum(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=8).hexdigest().encode()
