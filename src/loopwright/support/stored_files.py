"""Stored files of ours: read as if a stranger had written them, and never what a command ends with.

Caches, measurements and journals lie in folders of the user, where disks fail, other versions and
machines write, and permissions change. What cannot be read is told in one line, and is not used.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from .bounded_files import read_bounded

T = TypeVar("T")

DAMAGE = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What reading raises where a file says something else than its writer: UnicodeDecodeError and
JSONDecodeError are ValueErrors, RecursionError is a RuntimeError."""


def read_stored(path: Path, parse: Callable[[bytes], T], instead: str) -> T | None:
    """What `parse` makes of the contents of a file; None where there is no such file.

    None as well, after a warning with what happens `instead`, where it cannot be read, or `parse`
    raises one of `DAMAGE`.
    """
    try:
        contents = read_bounded(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        warn_unusable(path, error.strerror or str(error), instead)
        return None
    try:
        return parse(contents)
    except DAMAGE as error:
        reason = " ".join(str(error).split())[:100]
        warn_unusable(path, f"it is damaged: {type(error).__name__}: {reason}", instead)
        return None


def warn_unusable(path: Path, reason: str, instead: str) -> None:
    """Says that a file is not used, and what happens instead."""
    warnings.warn(f"{path} is not used ({reason}): {instead}", RuntimeWarning, stacklevel=3)
