"""Plain data on disk: arrays, numbers, texts, tuples, and records of these; nothing is executed.

A file is a JSON text of nodes, each a value that refers to others by number, and the bytes of the
arrays behind it. What is shared is stored once, and is shared again when it is read. Records are
named tuples and dataclasses: only classes that the process has already loaded, whose fields are
set without calling anything of theirs.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import struct
import sys
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from .stored_files import DAMAGE

_MAGIC = b"loopwright-records 1\n"
_LENGTH = struct.Struct(">Q")
_DIGEST = 16

# Types of elements that are numbers and nothing else.
_KINDS = "biufc"
_BFLOAT16, _BFLOAT16_TEXT = np.dtype([("bfloat16", "<u2")]), "bfloat16"


def _is_plain(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in _KINDS or dtype == _BFLOAT16


class NotPlainError(TypeError):
    """A value that is no plain data."""


class DamagedError(ValueError):
    """A file that is none of these, not whole, or of classes that have changed."""


def to_bytes(value: object) -> bytes:
    """The contents of a file; raises NotPlainError."""
    writer = _Writer()
    writer.add(value)
    header = json.dumps(writer.nodes).encode()
    payload = b"".join((_LENGTH.pack(len(header)), header, *writer.data))
    return _MAGIC + hashlib.blake2b(payload, digest_size=_DIGEST).digest() + payload


def from_bytes(contents: bytes) -> Any:
    """The value in a file; raises DamagedError."""
    start = len(_MAGIC) + _DIGEST
    payload = contents[start:]
    digest = hashlib.blake2b(payload, digest_size=_DIGEST).digest()
    if contents[:start] != _MAGIC + digest or len(payload) < _LENGTH.size:
        raise DamagedError("not a whole file of records")
    (length,) = _LENGTH.unpack_from(payload)
    end = _LENGTH.size + length
    try:
        nodes = json.loads(payload[_LENGTH.size : end])
        return _Reader(nodes, payload[end:]).last()
    except DAMAGE as error:
        raise DamagedError(f"the records cannot be read: {error}") from error


class _Writer:
    """Nodes are in the order in which they are complete: each refers to earlier ones."""

    def __init__(self) -> None:
        self.nodes: list[list[Any]] = []
        self.data: list[bytes] = []
        self._size = 0
        self._known: dict[int, tuple[object, int]] = {}

    def add(self, value: object) -> int:
        """The number of a value's node."""
        known = self._known.get(id(value))
        if known is None:
            self.nodes.append(self._node(value))
            # The value is kept, so that its id stays its own.
            known = self._known[id(value)] = value, len(self.nodes) - 1
        return known[1]

    def _node(self, value: object) -> list[Any]:
        kind = type(value)
        if value is None or kind in (bool, int, float, str):
            return ["value", value]
        if kind is bytes:
            return ["bytes", *self._store(cast(bytes, value))]
        if isinstance(value, np.ndarray | np.generic):
            array = cast("np.ndarray[Any, Any]", np.asarray(cast(Any, value)))
            if not _is_plain(array.dtype):
                raise NotPlainError(f"an array of {array.dtype}")
            what = "array" if isinstance(value, np.ndarray) else "number"
            stored = self._store(np.ascontiguousarray(array).tobytes())
            return [
                what,
                _BFLOAT16_TEXT if array.dtype == _BFLOAT16 else array.dtype.str,
                list(array.shape),
                *stored,
            ]
        if dataclasses.is_dataclass(kind):
            names = [field.name for field in dataclasses.fields(kind)]
            fields = [self.add(getattr(value, name)) for name in names]
            return ["dataclass", kind.__module__, kind.__qualname__, names, fields]
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            names = list(cast(Any, kind)._fields)
            fields = [self.add(item) for item in cast("tuple[object, ...]", value)]
            return ["tuple of fields", kind.__module__, kind.__qualname__, names, fields]
        if kind in (tuple, list, set, frozenset):
            items = cast("tuple[object, ...]", value)
            return [kind.__name__, [self.add(item) for item in items]]
        if isinstance(value, Mapping):
            pairs = cast("Mapping[object, object]", value).items()
            return ["dict", [(self.add(key), self.add(item)) for key, item in pairs]]
        raise NotPlainError(f"a value of type {kind.__qualname__}")

    def _store(self, data: bytes) -> tuple[int, int]:
        start = self._size
        self.data.append(data)
        self._size += len(data)
        return start, len(data)


_COLLECTIONS: dict[str, type[Any]] = {
    "tuple": tuple,
    "list": list,
    "set": set,
    "frozenset": frozenset,
}


class _Reader:
    def __init__(self, nodes: list[list[Any]], data: bytes) -> None:
        self._data = memoryview(data)
        self._values: list[Any] = []
        for node in nodes:
            self._values.append(self._value(*node))

    def last(self) -> Any:
        """The value that was stored."""
        return self._values[-1]

    def _value(self, kind: str, *rest: Any) -> Any:
        match kind:
            case "value":
                return rest[0]
            case "bytes":
                return bytes(self._bytes(*rest))
            case "array" | "number":
                text, shape, start, length = rest
                dtype = _BFLOAT16 if text == _BFLOAT16_TEXT else np.dtype(str(text))
                if not _is_plain(dtype):
                    raise DamagedError(f"an array of {dtype}")
                array = np.frombuffer(self._bytes(start, length), dtype).reshape(shape).copy()
                return array if kind == "array" else array[()]
            case "dataclass" | "tuple of fields":
                return self._record(kind, *rest)
            case "dict":
                return {self._at(key): self._at(value) for key, value in rest[0]}
            case _:
                return _COLLECTIONS[kind](self._at(number) for number in rest[0])

    def _record(self, kind: str, module: str, name: str, names: list[str], fields: Any) -> Any:
        cls: Any = sys.modules[module]
        for part in name.split("."):
            cls = cls.__dict__[part]
        values = [self._at(number) for number in fields]
        if not isinstance(cls, type) or len(names) != len(values):
            raise DamagedError(f"{name} is no class of records")
        if kind == "dataclass" and dataclasses.is_dataclass(cls):
            if names != [field.name for field in dataclasses.fields(cls)]:
                raise DamagedError(f"{name} has other fields now")
            record: Any = object.__new__(cls)
            for field, value in zip(names, values, strict=True):
                object.__setattr__(record, field, value)
            return record
        if kind == "tuple of fields" and issubclass(cls, tuple):
            if names != list(cast(Any, cls)._fields):
                raise DamagedError(f"{name} has other fields now")
            return cast(Any, tuple).__new__(cls, values)
        raise DamagedError(f"{name} is no class of records")

    def _at(self, number: int) -> Any:
        if not 0 <= number < len(self._values):
            raise DamagedError("a reference to a later value")
        return self._values[number]

    def _bytes(self, start: int, length: int) -> memoryview:
        if not 0 <= start <= start + length <= len(self._data):
            raise DamagedError("an array is not whole")
        return self._data[start : start + length]
