"""A kernel at one size, with the arrays shared by all variants of a process."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.catalogue import Size
from ..calling.arguments import ArrayArgument
from ..calling.inputs import available_memory
from ..measuring.written_arrays import WrittenArray, restore
from ..program import Function, load
from .bench_kernel import BenchKernel

Array = NDArray[Any]


class NotApplicable(Exception):
    """A variant that cannot run a case; `str()` is the reason in one line."""


def check_memory(entry: BenchKernel, size: Size) -> None:
    """Raises NotApplicable where the arrays and as many copies are too much for the machine."""
    needed = 2 * entry.array_bytes(size)
    if needed > available_memory():
        raise NotApplicable(f"its arrays need {needed / 2**30:.1f} GiB of memory, twice counted")


def written_arrays(function: Function, arguments: list[Any]) -> list[WrittenArray]:
    """The arrays that the function writes, with their contents."""
    written: list[tuple[Array, bool]] = [
        (value, argument.reads)
        for value, argument in zip(arguments, function.signature.arguments, strict=True)
        if isinstance(value, np.ndarray) and isinstance(argument, ArrayArgument) and argument.writes
    ]
    return [WrittenArray(array, array.copy(), is_read) for array, is_read in written]


class Case:
    """A kernel at one size.

    `arguments` are those of its function. `expected` are the values of the outputs that the
    unscheduled program computes, set once that has run. Raises NotApplicable where the machine has
    too little memory.
    """

    def __init__(self, entry: BenchKernel, size: Size) -> None:
        self.entry = entry
        self.size = size
        self.function: Function = load(entry.text)[entry.function]
        check_memory(entry, size)
        self.arguments = entry.arguments(size)
        self.expected: dict[str, Array] = {}
        self._written = written_arrays(self.function, self.arguments)

    @property
    def size_name(self) -> str:
        """The size, for display."""
        if isinstance(self.size, str):
            return self.size
        return "x".join(map(str, self.entry.parameter_values(self.size).values()))

    @property
    def name(self) -> str:
        """Kernel and size, for display."""
        return f"{self.entry.name} {self.size_name}"

    def restore(self, *, whole: bool) -> None:
        """Gives the arrays that the kernel writes their initial contents: all, or what it reads."""
        restore(self._written, whole=whole)

    def outputs(self) -> dict[str, Array]:
        """What the last call computed."""
        return self.entry.output_arrays(self.arguments)

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
