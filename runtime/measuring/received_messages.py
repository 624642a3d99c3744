"""Messages of child processes, read as if a stranger had sent them.

A child runs generated code, and may send anything when that has written into its memory. Messages
are pickled; but only plain values, arrays, and dataclasses and enumerations that are loaded are
made of them, and nothing else that they name is imported or called.
"""

from __future__ import annotations

import builtins
import ctypes
import enum
import io
import pickle
import sys
from dataclasses import is_dataclass
from typing import Any

from ...support.typed_values import mismatch

MOST_BYTES = 1 << 32
"""Of one message; a damaged length is refused."""

_PLAIN = {
    getattr(builtins, name)
    for name in ("bool", "bytearray", "bytes", "complex", "float", "frozenset", "int", "set", "str")
} | {range, slice}

# How arrays, their types and their scalars are made again.
_OF_ARRAYS = {
    (module, name)
    for package in ("numpy.core", "numpy._core")
    for module, name in (
        (f"{package}.multiarray", "_reconstruct"),
        (f"{package}.multiarray", "scalar"),
        (f"{package}.numeric", "_frombuffer"),
    )
}


class MessageError(ValueError):
    """What was received is no message."""


class _Unpickler(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str) -> object:
        if (module_name, global_name) in _OF_ARRAYS:
            return super().find_class(module_name, global_name)
        found: object = sys.modules.get(module_name)
        for part in global_name.split("."):
            found = getattr(found, part, None)
        if isinstance(found, type) and _is_made(found):
            return found
        raise MessageError(f"a message of a child process names {module_name}.{global_name}")


def _is_made(kind: type) -> bool:
    """Whether objects of a class may be in a message: making one does nothing else."""
    known = [enum.Enum, *ctypes.c_int.__bases__]
    if (numpy := sys.modules.get("numpy")) is not None:
        known += [numpy.generic, numpy.ndarray, numpy.dtype]
    return kind in _PLAIN or is_dataclass(kind) or issubclass(kind, tuple(known))


def read_message(data: bytes, kind: Any = Any) -> object:
    """The message, of an annotated type; raises MessageError."""
    try:
        message = _Unpickler(io.BytesIO(data)).load()
    except MessageError:
        raise
    except Exception as error:  # Damaged data ends in any of them.
        raise MessageError(f"a child process sends what is no message: {error}") from None
    wrong = mismatch(message, kind)
    if wrong is None and not getattr(message, "is_possible", True):
        wrong = "its numbers cannot be"
    if wrong is not None:
        raise MessageError(f"a child process sends {type(message).__name__}: {wrong}")
    return message
