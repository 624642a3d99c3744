"""Tuned schedules as files, to be shared: one line of JSON for each.

What a file says is checked when it is read; the schedules in it are data, and proved legal before
they are used, as all others.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, cast, get_type_hints

from ...support.locations import files_of, read_file, write_file
from .database import LONGEST, Entry
from .signatures import check_signature, signature_line, split_signature

_KINDS: Mapping[str, type] = get_type_hints(Entry)

_HEAD = {"format": "loopwright tuning", "version": 1}

_SUFFIX = ".jsonl"


class DatabaseFileError(ValueError):
    """A file that is no export of tuned schedules; `str()` is one line."""


def write_entries(name: str, entries: Iterable[Entry], key: Path | None = None) -> int:
    """Writes rows to a file or URL, in an order of their own, signed if there is a key; how many.

    Raises OSError, SignatureError, MissingExtra.
    """
    lines = [json.dumps(_HEAD)]
    lines += [json.dumps(entry._asdict()) for entry in sorted(entries)]
    text = ("\n".join(lines) + "\n").encode()
    write_file(name, text if key is None else text + signature_line(text, key))
    return len(lines) - 1


def read_entries(name: str, keys: Sequence[Path] = ()) -> list[Entry]:
    """The rows of a file or URL, or of all files (.jsonl) of a folder.

    With keys, each file must be signed by one of them. Raises DatabaseFileError, SignatureError,
    OSError, MissingExtra.
    """
    files = files_of(name, _SUFFIX)
    if not files:
        raise DatabaseFileError(f"{name} has no exports of tuned schedules ({_SUFFIX} files)")
    return [entry for file in files for entry in _entries(file, keys)]


def _entries(name: str, keys: Sequence[Path]) -> Iterator[Entry]:
    text, signature = split_signature(read_file(name))
    if keys:
        check_signature(name, text, signature, keys)
    try:
        head, *lines = text.decode().splitlines() or [""]
        if json.loads(head) != _HEAD:
            raise ValueError
        for number, line in enumerate(lines, start=2):
            yield _entry(json.loads(line), f"{name}:{number}")
    except DatabaseFileError:
        raise
    except (ValueError, RecursionError):
        raise DatabaseFileError(
            f"{name} is no export of tuned schedules: make one by 'loopwright tuning export'"
        ) from None


def _entry(found: Any, place: str) -> Entry:
    if not isinstance(found, dict) or cast("dict[str, Any]", found).keys() != _KINDS.keys():
        raise DatabaseFileError(f"{place}: a line has the fields {', '.join(_KINDS)}")
    values = cast("dict[str, Any]", found)
    for name, kind in _KINDS.items():
        value = values[name]
        is_right = type(value) is kind or (kind is float and type(value) is int)
        if not is_right or (kind is not str and not isfinite(value)):
            raise DatabaseFileError(f"{place}: {name} cannot be {value!r}")
    if len(values["schedule"]) > LONGEST or min(values["seconds"], values["speedup"]) <= 0:
        raise DatabaseFileError(f"{place}: this is no schedule that was measured")
    return Entry(**values)
