"""Protocol of LLVM modules, for all back ends."""

from __future__ import annotations

import platform
from typing import Literal, NamedTuple, Protocol, Self

OPTIONS = (
    # Vectors of what is added up in order, where that takes longer than adding it.
    "-force-ordered-reductions",
    # Selects do not become branches, which data mispredict. There is no such option elsewhere.
    *(["-x86-cmov-converter=false"] if platform.machine() == "x86_64" else []),
)
"""LLVM's options on this machine."""


class Machine(NamedTuple):
    """LLVM's names of processor and features: `znver5`, `+fma,-avx512f`.

    `triple` is LLVM's name of a system of another architecture; without one it is this process's.
    """

    processor: str
    features: str
    triple: str = ""


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
    def is_valid(self) -> bool:
        """Whether LLVM's verifier accepts what passes have made of it."""
        ...

    @property
    def size(self) -> int:
        """Bytes of its bitcode."""
        ...

    def link(self, other: Self) -> None:
        """Takes over what is in another module, which is of no use afterwards."""
        ...

    def emit(self, machine: Machine, kind: Literal["assembly", "object"]) -> bytes:
        """Its machine code, as text or as a relocatable object file."""
        ...
