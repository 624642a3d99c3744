"""Atomic, checksummed files: safe against kills, full disks and damage.

A file is named by the SHA-256 of its contents, and appears under that name by a rename after it has
reached the disk: it is whole or not there. Each has a copy in a folder below, which is written
before it and deleted before it. The copy is read where the file is damaged; by itself it does not
count.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from .errors import DatasetError

DIGITS = 16
NAME = re.compile(rf"pairs-([0-9a-f]{{{DIGITS}}})\.parquet")
TEMPORARY = ".writing"
DAMAGED = ".damaged"
COPIES = "copies"


def write(directory: Path, data: bytes) -> Path:
    """Stores a file and its copy; raises OSError, and leaves neither then."""
    path = directory / f"pairs-{_digest(data)}.parquet"
    _replace(_copy(path), data)
    try:
        _replace(path, data)
    except BaseException:
        if not path.exists():
            with contextlib.suppress(OSError):
                _copy(path).unlink(missing_ok=True)
        raise
    return path


def contents(path: Path) -> bytes:
    """What was written; raises FileNotFoundError, or why neither the file nor its copy can be read.

    That is DatasetError for other contents, else OSError.
    """
    try:
        return _sound(path)
    except FileNotFoundError:
        raise
    except (DatasetError, OSError):
        with contextlib.suppress(DatasetError, OSError):
            return _sound(_copy(path))
        raise


def damage(path: Path) -> str | None:
    """What is wrong with one of a file and its copy; that one of them is missing is not."""
    for place in (path, _copy(path)):
        try:
            _sound(place)
        except FileNotFoundError:
            continue
        except (DatasetError, OSError) as error:
            return str(error)
    return None


def mend(path: Path) -> None:
    """Makes a file and its copy alike again; raises as `contents`, OSError."""
    data = contents(path)
    for place in (_copy(path), path):
        try:
            _sound(place)
        except (DatasetError, OSError):
            _replace(place, data)


def put_aside(path: Path) -> None:
    """Takes a damaged file and its copy out of the way, without deleting them."""
    for each in (path, _copy(path)):
        if each.exists():
            each.replace(each.with_name(each.name + DAMAGED))


def delete(path: Path) -> None:
    """Deletes a file and its copy, which are not needed any more."""
    _copy(path).unlink(missing_ok=True)
    path.unlink(missing_ok=True)


def left_behind(directory: Path) -> Iterator[Path]:
    """Temporary files, and copies of files that are not there: of processes that were killed."""
    yield from directory.glob(f"*{TEMPORARY}")
    yield from (directory / COPIES).glob(f"pairs-*{TEMPORARY}")
    for path in (directory / COPIES).glob("pairs-*.parquet"):
        if not (directory / path.name).exists():
            yield path


def is_being_written(path: Path) -> bool:
    """Whether it is a temporary file, and the process that writes it still runs."""
    number = path.name.removesuffix(TEMPORARY).rpartition(".")[2]
    return number.isdecimal() and Path(f"/proc/{number}").exists()


def _copy(path: Path) -> Path:
    return path.parent / COPIES / path.name


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:DIGITS]


def _sound(path: Path) -> bytes:
    """The bytes of a file that its name agrees with; raises DatasetError, FileNotFoundError."""
    match = NAME.fullmatch(path.name)
    if match is None:
        raise DatasetError(f"{path} is not named as a shard")
    data = path.read_bytes()
    if _digest(data) != match[1]:
        raise DatasetError(f"{path}: the contents are not those that were written")
    return data


def _replace(path: Path, data: bytes) -> None:
    """Puts a whole file in its place; raises OSError, and leaves nothing behind then."""
    path.parent.mkdir(exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}{TEMPORARY}")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    _sync(path.parent)


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
