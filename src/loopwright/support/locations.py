"""Files that a path or a URL of an object store names (`s3://bucket/name`), by fsspec."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from .bounded_files import read_bounded, read_stream
from .extras import extra_for
from .output_files import write_output


class LocationError(OSError):
    """A place that cannot be reached; `str()` is one line."""


def is_url(name: str) -> bool:
    """Whether a name is no path."""
    return "://" in name


def write_file(name: str, contents: bytes) -> None:
    """Writes a whole file; raises OSError, MissingExtra."""
    if not is_url(name):
        write_output(name, contents)
        return
    with _reached(name) as (system, path), system.open(path, "wb") as file:
        file.write(contents)


def read_file(name: str) -> bytes:
    """The contents of a file; raises OSError, MissingExtra."""
    if not is_url(name):
        return read_bounded(name)
    with _reached(name) as (system, path), system.open(path, "rb") as file:
        return read_stream(file, name)


def files_of(name: str, suffix: str) -> list[str]:
    """The files of a folder with this suffix, by name; of a file itself. Raises as `read_file`."""
    if not is_url(name):
        path = Path(name)
        return [str(each) for each in sorted(path.glob(f"*{suffix}"))] if path.is_dir() else [name]
    with _reached(name) as (system, path):
        if not system.isdir(path):
            return [name]
        found = sorted(each for each in system.ls(path, detail=False) if each.endswith(suffix))
        return [system.unstrip_protocol(each) for each in found]


@contextmanager
def _reached(name: str) -> Generator[tuple[Any, str]]:
    """The file system of a URL, and the path in it; what goes wrong there is LocationError."""
    with extra_for(name):
        import fsspec
    try:
        yield cast(Any, fsspec.core).url_to_fs(name)
    except FileNotFoundError as error:
        raise LocationError(f"{name}: there is no such file or folder") from error
    except Exception as error:  # each file system has errors of its own
        text = getattr(error, "strerror", None) or str(error)
        reason = text.partition("\n")[0] or type(error).__name__
        raise LocationError(f"{name}: {reason}") from error
