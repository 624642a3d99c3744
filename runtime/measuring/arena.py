"""Arena allocation of a program's arrays, in huge pages if the system has them.

With pages of 4 KiB, which cache sets an array falls into is drawn anew in every process, and the
same code takes other times.
"""

from __future__ import annotations

import contextlib
import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...passes.machine.target import Target

HUGE_PAGE = Target.host().huge_page
ALIGNMENT = 64

MARGIN = 4096
"""Bytes before the first array and behind the last one: lanes of vectors that are masked reach
there, and where no page is, a load or store of them takes much longer: jacobi-1d (MEDIUM) in
explicit vectors took 2.7 times as long."""


class Arena:
    """A memory block from which arrays are allocated in order."""

    def __init__(self, size: int) -> None:
        # Whole huge pages, wherever the block begins: the rest would be in small ones.
        # Private: shared memory, which is the default, has small pages.
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        try:
            pages = -(-(size + 2 * MARGIN) // HUGE_PAGE) + 1
            block = mmap.mmap(-1, pages * HUGE_PAGE, flags)
        except OSError as error:
            raise MemoryError(f"no {size} bytes for the arrays of the program") from error
        with contextlib.suppress(OSError, AttributeError):
            block.madvise(mmap.MADV_HUGEPAGE)
        self._bytes = np.frombuffer(block, np.uint8)
        begin = -self._bytes.ctypes.data % HUGE_PAGE
        self._next = begin + MARGIN
        # A page is there from when it is first written.
        self._bytes[begin : self._next] = 0

    def array(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """An array of zeros; its address is a multiple of `ALIGNMENT`."""
        size = array_bytes(shape, dtype)
        start, self._next = self._next, self._next + size
        self._bytes[self._next : self._next + MARGIN] = 0
        flat = self._bytes[start : start + size].view(dtype)
        return flat[: _elements(shape)].reshape(shape)


def array_bytes(shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    """What an array takes of an arena."""
    size = _elements(shape) * dtype.itemsize
    return -(-size // ALIGNMENT) * ALIGNMENT


def _elements(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape, dtype=np.int64))
