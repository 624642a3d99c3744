"""Texts of programs, read from files."""

from __future__ import annotations

from pathlib import Path

from ..support.bounded_files import read_text
from .errors import SourceError


def read_source(path: str | Path) -> str:
    """The text of a file; raises SourceError."""
    try:
        return read_text(path)
    except OSError as error:
        raise SourceError(f"cannot read '{path}': {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"cannot read '{path}': it is not UTF-8 text") from error
    except ValueError as error:
        raise SourceError(f"cannot read {str(path)!r}: {error}") from error
