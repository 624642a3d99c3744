"""Restoring of written arrays before each run."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class WrittenArray:
    """A written array, its initial contents, and whether it is read.

    Results are compared up to `tolerance` (None: not at all), all of them or those of `elements`.
    """

    array: NDArray[Any]
    initial: NDArray[Any]
    is_read: bool
    tolerance: float | None = None
    elements: NDArray[np.bool_] | None = None

    def results(self) -> NDArray[Any]:
        """What is compared."""
        return self.array if self.elements is None else self.array[self.elements]


def restore(arrays: Iterable[WrittenArray], *, whole: bool) -> None:
    """Gives arrays their initial contents: all of them, or those that a run reads.

    What is only written has the same values after every correct run.
    """
    for each in arrays:
        if whole or each.is_read:
            ctypes.memmove(each.array.ctypes.data, each.initial.ctypes.data, each.initial.nbytes)
