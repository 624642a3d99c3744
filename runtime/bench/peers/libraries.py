"""Protocol of Python libraries that have a kernel as an operator, or compile it.

Imported by worker processes only. A library gives, for a kernel and its arguments, a function that
runs it on these arguments, or raises Unsupported with the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from ..bench_kernel import BenchKernel


class Unsupported(Exception):
    """A kernel that a library lacks; `str()` is one line."""


class Library(Protocol):
    """A module of this package: see `numpy_library.py`."""

    def version(self) -> str:
        """The library and the parts of it that do the work, with their versions."""
        ...

    def use_threads(self, count: int) -> None:
        """Sets the number of threads, where the environment does not."""
        ...

    def prepare(self, entry: BenchKernel, arguments: list[Any]) -> Callable[[], object]:
        """The kernel on these arguments; raises Unsupported."""
        ...


LIBRARIES = {
    "numpy": "numpy_library",
    "scipy": "scipy_library",
    "torch": "torch_library",
    "numba": "numba_library",
    "halide": "halide_library",
    "onednn": "onednn_library",
}
"""The modules by the name of the peer."""

PACKAGES = {"onednn": "torch"}
"""The Python package that has a library, where that is not called like the peer."""
