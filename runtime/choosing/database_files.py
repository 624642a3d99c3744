"""Tuned schedules as files, to be shared: one line of JSON for each.

What a file says is checked when it is read; the schedules in it are data, and proved legal before
they are used, as all others.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Any, cast

from ...support.output_files import write_output
from .database import LONGEST

_KINDS: Mapping[str, type] = {
    "program": str,
    "sizes": str,
    "target": str,
    "threads": int,
    "fast_math": int,
    "schedule": str,
    "seconds": float,
    "speedup": float,
    "function": str,
    "compiler": str,
    "found_at": float,
}
"""The columns of the database."""

COLUMNS = tuple(_KINDS)

_HEAD = {"format": "loopwright tuning", "version": 1}

Entry = tuple[str | int | float, ...]
"""A row of the database."""


class DatabaseFileError(ValueError):
    """A file that is no export of tuned schedules; `str()` is one line."""


def write_entries(path: Path, entries: Iterable[Entry]) -> int:
    """Writes rows to a file, in an order of their own; how many. Raises OSError."""
    lines = [json.dumps(_HEAD)]
    lines += [json.dumps(dict(zip(COLUMNS, entry, strict=True))) for entry in sorted(entries)]
    write_output(path, "\n".join(lines) + "\n")
    return len(lines) - 1


def read_entries(path: Path) -> Iterator[Entry]:
    """The rows of a file. Raises DatabaseFileError, OSError."""
    with path.open(encoding="utf-8") as file:
        try:
            if json.loads(file.readline()) != _HEAD:
                raise ValueError
            for number, line in enumerate(file, start=2):
                yield _entry(json.loads(line), f"{path}:{number}")
        except DatabaseFileError:
            raise
        except ValueError:
            raise DatabaseFileError(
                f"{path} is no export of tuned schedules: make one by 'loopwright tuning export'"
            ) from None


def _entry(found: Any, place: str) -> Entry:
    if not isinstance(found, dict) or cast("dict[str, Any]", found).keys() != _KINDS.keys():
        raise DatabaseFileError(f"{place}: a line has the fields {', '.join(COLUMNS)}")
    values = cast("dict[str, Any]", found)
    for name, kind in _KINDS.items():
        value = values[name]
        is_right = type(value) is kind or (kind is float and type(value) is int)
        if not is_right or (kind is not str and not isfinite(value)):
            raise DatabaseFileError(f"{place}: {name} cannot be {value!r}")
    if len(values["schedule"]) > LONGEST or min(values["seconds"], values["speedup"]) <= 0:
        raise DatabaseFileError(f"{place}: this is no schedule that was measured")
    return tuple(values[name] for name in COLUMNS)
