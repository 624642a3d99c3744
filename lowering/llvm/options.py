"""Options of the translation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """Options of a translation; equal options give equal LLVM IR.

    `num_threads`: threads of a parallel loop; 0 = the OpenMP runtime's default, 1 = run parallel
    loops in the calling thread without an OpenMP runtime.
    `contract`: a multiplication and an addition may become one fused operation.
    `fast_math`: floating-point operations may be reassociated and approximated, and the sign of a
    zero may change; infinities and NaN keep their meaning.
    `check_bounds`: every access is checked when it runs (see `bounds_checks`).
    """

    num_threads: int = 0
    contract: bool = True
    fast_math: bool = False
    check_bounds: bool = False

    @property
    def fast_math_flags(self) -> tuple[str, ...]:
        """LLVM fast-math flags of every floating-point operation."""
        relaxed = ("reassoc", "nsz", "arcp", "afn") if self.fast_math else ()
        return (*relaxed, "contract") if self.contract or self.fast_math else ()
