"""Variants: ways to run a kernel, prepared for a case and then timed call by call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from .case import Case


class Prepared(Protocol):
    """A variant that is ready to run one case."""

    def time(self) -> float:
        """Runs once from the initial contents; the seconds of the run alone."""
        ...

    def outputs(self) -> Mapping[str, NDArray[Any]]:
        """What the last run computed, by name."""
        ...


@dataclass(frozen=True)
class Variant:
    """One way to run kernels.

    `peer` is the group it belongs to (`clang`), `name` what is shown (`clang -O3 -ffast-math`),
    `version` what exactly runs. `settles` are seconds after which threads that wait for the next
    parallel region have gone to sleep, so that they do not disturb other variants. `relaxed`:
    floating-point operations may be reassociated. `prepare` raises NotApplicable.
    """

    peer: str
    name: str
    threads: int
    version: str
    prepare: Callable[[Case], Prepared]
    settles: float = 0.0
    pinned: bool = True
    relaxed: bool = False
