"""Arrays between pages that cannot be accessed: what leaves one ends the process."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray


def guarded(array: NDArray[Any], *, at_start: bool) -> NDArray[Any]:
    """A copy in memory of its own, at the start or at the end of what may be accessed."""
    page = mmap.PAGESIZE
    inside = max(1, -(-array.nbytes // page)) * page
    pages = mmap.mmap(-1, inside + 2 * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    protect = ctypes.CDLL(None).mprotect
    for border in (start, start + page + inside):
        assert protect(ctypes.c_void_p(border), page, 0) == 0
    offset = page if at_start else page + inside - array.nbytes
    result = np.frombuffer(pages, array.dtype, array.size, offset).reshape(array.shape)
    result[...] = array
    return result
