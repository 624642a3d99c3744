"""Options of the translation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """Options of a translation; equal options give equal LLVM IR.

    `num_threads`: threads of a parallel loop; 0 = the OpenMP runtime's default, 1 = run parallel
    loops in the calling thread without an OpenMP runtime.
    `contract`: additions are fused with products, the same ones in every schedule.
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
        return ("reassoc", "nsz", "arcp", "afn", "contract") if self.fast_math else ()

    @property
    def fuses_products(self) -> bool:
        """Whether what is fused follows from the program; with fast math LLVM decides."""
        return self.contract and not self.fast_math
