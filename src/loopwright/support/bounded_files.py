"""Bounded reads: a file that never ends, such as /dev/zero, does not fill the memory."""

from __future__ import annotations

import errno
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import IO

LARGEST = 1 << 26
"""Bytes: a program of 64 MiB would take hours."""


def read_bounded(path: str | Path) -> bytes:
    """The contents of a file of at most `LARGEST` bytes; raises OSError."""
    with Path(path).open("rb") as file:
        return read_stream(file, str(path))


def read_stream(stream: IO[bytes], name: str) -> bytes:
    """What is left in a stream, at most `LARGEST` bytes; raises OSError."""
    contents = stream.read(LARGEST + 1)
    if len(contents) > LARGEST:
        raise OSError(errno.EFBIG, f"it has more than {LARGEST >> 20} MiB", name)
    return contents


def read_text(path: str | Path) -> str:
    """The same as text, with \\n at the ends of lines; raises OSError, UnicodeDecodeError."""
    return TextIOWrapper(BytesIO(read_bounded(path)), encoding="utf-8-sig").read()
