"""What the harness asks of a kernel, be it of the catalogue or a function of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ...kernels.catalogue import Array, KernelArray, Size


class BenchKernel(Protocol):
    """A function with its arguments, results and limits.

    `source` is what libraries know a kernel by. `parallel` and `simd` name the loops that a C
    programmer would mark.
    """

    @property
    def name(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def function(self) -> str: ...
    @property
    def element_type(self) -> str: ...
    @property
    def tolerance(self) -> float: ...
    @property
    def arrays(self) -> Sequence[KernelArray]: ...
    @property
    def argument_names(self) -> Sequence[str]: ...
    @property
    def parallel(self) -> Sequence[str]: ...
    @property
    def simd(self) -> Sequence[str]: ...

    def parameter_values(self, size: Size) -> Mapping[str, int]:
        """The parameters of a size."""
        ...

    def arguments(self, size: Size) -> list[Any]:
        """New arguments for one call."""
        ...

    def array_bytes(self, size: Size) -> int:
        """Bytes of all array arguments."""
        ...

    def output_arrays(self, arguments: list[Any]) -> dict[str, Array]:
        """The result arrays among the arguments of a call, by name."""
        ...

    def flops(self, size: Size) -> int:
        """Arithmetic operations of one call; 0 where they cannot be counted."""
        ...

    def traffic(self, size: Size) -> int:
        """Bytes that one call must at least read and write."""
        ...
