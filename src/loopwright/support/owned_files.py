"""Files that hold machine code: read only where they belong to this user, and to nobody else."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def read_owned(path: Path) -> bytes:
    """The contents of a regular file that this user owns and nobody else may write.

    Raises OSError for any other, also for a symbolic link.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        if not _is_ours(os.fstat(file.fileno())):
            raise PermissionError(f"{path} may be written by others")
        return file.read()


def _is_ours(status: os.stat_result) -> bool:
    writable_by_others = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and not writable_by_others
