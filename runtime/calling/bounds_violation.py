"""Record of the first out-of-bounds access of a bounds-checked build."""

from __future__ import annotations

import ctypes

from ...lowering.llvm.names import ELEMENT_NUMBER


class Violation(ctypes.Structure):
    """The record `BOUNDS_VIOLATION` of a module, field by field."""

    taken: int
    array: bytes
    dimension: int
    subscript: int
    extent: int

    _fields_ = (
        ("taken", ctypes.c_int64),
        ("array", ctypes.c_char_p),
        ("dimension", ctypes.c_int64),
        ("subscript", ctypes.c_int64),
        ("extent", ctypes.c_int64),
    )

    def take(self) -> str | None:
        """What the record says, if anything; it can be filled again then."""
        if not self.taken:
            return None
        self.taken = 0
        where = (
            f"element {self.subscript}, counted row by row, of {self.extent}"
            if self.dimension == ELEMENT_NUMBER
            else f"subscript {self.dimension} is {self.subscript}, the extent {self.extent}"
        )
        return f"access outside of {self.array.decode()}: {where}"
