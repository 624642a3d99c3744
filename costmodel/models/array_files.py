"""Files of arrays and plain data: an npz archive, read without executing anything.

The member `content` is JSON; arrays in it are references to other members. Dictionaries keep keys
that are numbers, and tuples stay tuples, so that the state of an optimiser comes back as it was.
"""

from __future__ import annotations

import json
import signal
import struct
import threading
import zipfile
import zlib
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ...support.bounded_files import LARGEST, read_bounded
from ...support.output_files import replacing
from ...support.stored_files import DAMAGE
from ..learning.errors import LearningError

_CONTENT = "content"
_ARRAY, _MAPPING, _TUPLE = "array", "mapping", "tuple"

_UNREADABLE = (*DAMAGE, OSError, struct.error, zipfile.BadZipFile, zlib.error)
"""What NumPy and zipfile raise on files that are cut off, or none of its own."""

Arrays = dict[str, NDArray[Any]]


def store_arrays(path: Path, content: Mapping[str, Any]) -> None:
    """Writes a dictionary for `load_arrays`; the file is whole or not there. Raises OSError.

    It has arrays (tensors of torch as well), numbers, texts, None, and lists, tuples and
    dictionaries of these.
    """
    arrays: Arrays = {}
    plain = json.dumps(_plain(dict(content), arrays))
    arrays[_CONTENT] = np.frombuffer(plain.encode(), np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _uninterrupted(), replacing(path) as beside, beside.open("wb") as file:
        cast(Any, np.savez)(file, **arrays)


def load_arrays(path: Path) -> Mapping[str, Any]:
    """A dictionary written by `store_arrays`; raises LearningError, OSError."""
    with BytesIO(read_bounded(path)) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                if sum(member.file_size for member in archive.infolist()) > LARGEST:
                    raise ValueError("its arrays are too large")
                if archive.testzip() is not None:
                    raise LearningError(f"{path} is damaged; train it again: loopwright train")
            file.seek(0)
            with np.load(file, allow_pickle=False) as members:
                arrays: Arrays = {name: members[name] for name in members}
            content = _restored(json.loads(arrays.pop(_CONTENT).tobytes()), arrays)
            if not isinstance(content, dict):
                raise ValueError("no dictionary")
            return cast("dict[str, Any]", content)
        except _UNREADABLE as error:
            raise LearningError(f"{path} is not a file of loopwright train") from error


def _plain(value: object, arrays: Arrays) -> object:
    """Plain data for JSON; arrays are put aside."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {_MAPPING: [[_plain(key, arrays), _plain(each, arrays)] for key, each in items]}
    if isinstance(value, Sequence):
        values = [_plain(each, arrays) for each in cast("Sequence[object]", value)]
        return {_TUPLE: values} if isinstance(value, tuple) else values
    name = str(len(arrays))
    arrays[name] = np.asarray(value)
    return {_ARRAY: name}


def _restored(value: Any, arrays: Arrays) -> Any:
    if isinstance(value, list):
        return [_restored(each, arrays) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = cast("dict[str, Any]", value).items()
    if kind == _ARRAY:
        return arrays[inner]
    if kind == _TUPLE:
        return tuple(_restored(each, arrays) for each in inner)
    if kind != _MAPPING:
        raise ValueError(f"there is no {kind}")
    return {_restored(key, arrays): _restored(each, arrays) for key, each in inner}


@contextmanager
def _uninterrupted() -> Generator[None]:
    """Ctrl-C waits until the end: a file that is not whole would be written anew."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    pressed: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if pressed:
            before(pressed[0], None)
