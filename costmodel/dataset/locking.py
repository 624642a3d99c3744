"""Lock of a directory of labels: one process at a time adds to it."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import IO

from .errors import DatasetError

LOCK = ".lock"


def lock(directory: Path) -> IO[bytes]:
    """Keeps other processes from changing a directory, which is made, as long as the file is open.

    Raises DatasetError when another process is at it, OSError.
    """
    directory.mkdir(parents=True, exist_ok=True)
    file = (directory / LOCK).open("ab")
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise DatasetError(
            f"another process adds to {directory}: use a directory of its own, and merge later"
        ) from error
    return file
