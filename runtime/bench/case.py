"""A kernel in one size: the arrays that all variants in this process work on."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.catalogue import KernelEntry
from ..arguments import ArrayArgument
from ..program import Function, load

Array = NDArray[Any]


class Case:
    """A kernel in one size.

    `arguments` are those of its function. `expected` are the values of the outputs that the
    unscheduled program computes, set once that has run.
    """

    def __init__(self, entry: KernelEntry, size: str) -> None:
        self.entry = entry
        self.size = size
        self.function: Function = load(entry.text)[entry.function]
        self.arguments = entry.arguments(size)
        self.expected: dict[str, Array] = {}
        self._initial = [
            (value, value.copy())
            for value, argument in zip(
                self.arguments, self.function.signature.arguments, strict=True
            )
            if isinstance(value, np.ndarray)
            and isinstance(argument, ArrayArgument)
            and argument.writes
        ]

    @property
    def name(self) -> str:
        """Kernel and size, for people."""
        return f"{self.entry.name} {self.size}"

    def restore(self) -> None:
        """Gives the arrays that the kernel writes their initial contents again."""
        for array, saved in self._initial:
            np.copyto(array, saved)

    def outputs(self) -> dict[str, Array]:
        """Copies of what the last call computed."""
        found = self.entry.output_arrays(self.arguments)
        return {name: array.copy() for name, array in found.items()}

    @cached_property
    def data_bytes(self) -> int:
        """Bytes of all array arguments."""
        return sum(value.nbytes for value in self.arguments if isinstance(value, np.ndarray))

    @property
    def c_values(self) -> list[int | float]:
        """The arguments as C sees them: arrays by their address."""
        return [
            value.ctypes.data if isinstance(value, np.ndarray) else value
            for value in self.arguments
        ]
