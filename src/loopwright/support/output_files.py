"""Output files: written beside, and renamed when they are whole.

Where the disk is full, or the process is stopped, there is no half of a file that a build system
takes for a finished one, and an older file stays as it was.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(path: str | Path) -> Generator[Path]:
    """A path to write the new contents of a file to; it takes the file's place at the end.

    What is no regular file (a terminal, a pipe, /dev/null) is written to directly. Raises OSError
    with the name of the file.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        try:
            yield path
        except OSError as error:
            raise _named(error, path) from error
        return
    # A symbolic link stays one.
    target = path.resolve() if path.is_symlink() else path
    try:
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
    except OSError as error:
        raise _named(error, path) from error
    os.close(descriptor)
    beside = Path(name)
    try:
        yield beside
        beside.chmod(_mode(target))
        beside.replace(target)
    except OSError as error:
        raise _named(error, path) from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def write_output(path: str | Path, contents: str | bytes) -> None:
    """Writes a whole file, text in UTF-8; raises OSError with its name."""
    with replacing(path) as beside:
        data = contents.encode() if isinstance(contents, str) else contents
        beside.write_bytes(data)


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or those of a new one."""
    with suppress(OSError):
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _named(error: OSError, path: Path) -> OSError:
    """The error about the file that the user knows."""
    return error if error.errno is None else OSError(error.errno, error.strerror, str(path))
