"""A module of LLVM IR that is optimised and becomes machine code, whichever LLVM does it."""

from __future__ import annotations

import os
from functools import cache
from typing import Literal, NamedTuple, Protocol, Self

from .library import find_library

VARIABLE = "LOOPWRIGHT_LLVM"
"""Environment variable: `llvmlite` takes that LLVM though there is a shared library.

Ours is built without assertions, and takes two thirds of the time. llvmlite's has them: it ends the
process where something goes wrong inside of it, and says what.
"""


class Machine(NamedTuple):
    """What code is made for, in LLVM's words: `znver5`, `+fma,-avx512f`."""

    processor: str
    features: str


class Module(Protocol):
    """A module of LLVM IR. `str` prints it."""

    def optimise(self, *, unrolls: bool) -> None:
        """Runs -O3 with LLVM's vectorisers; without `unrolls`, only loops that ask are unrolled."""
        ...

    def simplify(self, *, unrolls: bool) -> None:
        """Runs the function simplification of -O2, in which LICM keeps tiles in registers.

        Its second LICM comes after full unrolling. -O3 would besides unswitch loops, at more than
        twice the time. With `unrolls`, loops that ask to be unrolled by a factor are.
        """
        ...

    @property
    def size(self) -> int:
        """Bytes of its bitcode."""
        ...

    def link(self, other: Self) -> None:
        """Takes over what is in another module, which is used up."""
        ...

    def emit(self, machine: Machine, kind: Literal["assembly", "object"]) -> bytes:
        """Its machine code, as text or as a relocatable object file."""
        ...


def parse(text: str, machine: Machine) -> Module:
    """Reads and verifies LLVM IR; its passes will know of the machine. Raises RuntimeError."""
    if _is_library():
        from .library_module import LibraryModule

        return LibraryModule(text, machine)
    from .llvmlite_module import LlvmliteModule

    return LlvmliteModule(text, machine)


@cache
def version() -> str:
    """Which LLVM it is, as `22.1.8` or `22.1.0 (llvmlite)`."""
    library = find_library() if _is_library() else None
    if library is not None:
        return library.version
    from .llvmlite_module import VERSION

    return f"{VERSION} (llvmlite)"


@cache
def _is_library() -> bool:
    return os.environ.get(VARIABLE) != "llvmlite" and find_library() is not None
