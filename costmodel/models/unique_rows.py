"""Deduplicated rows of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def unique_rows(rows: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows that differ from all before them, and for each row which of these it is like.

    Of a search's candidates, most statements are as they were in the last one.
    """
    size = rows.shape[1] * rows.itemsize
    texts: list[bytes] = np.ascontiguousarray(rows).view(np.dtype((np.void, size))).ravel().tolist()
    first: dict[bytes, int] = {}
    for number, text in enumerate(texts):
        first.setdefault(text, number)
    numbers = {text: number for number, text in enumerate(first)}
    unique = np.fromiter(first.values(), np.int64, len(first))
    return unique, np.fromiter((numbers[text] for text in texts), np.int64, len(texts))
