"""Machine code as a variant, timed by a compiled stopwatch without Python's overhead."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...passes.machine.target import Target
from ..jit import object_code as jit
from ..measuring.stopwatch import stopwatch
from .case import Case


class NativeRun:
    """A kernel at an address, ready to run a case; `keep` holds references to its memory.

    `before` is called before each run, `after` behind it: it raises what went wrong.
    """

    def __init__(
        self,
        case: Case,
        address: int,
        keep: object,
        before: Callable[[], object] = lambda: None,
        after: Callable[[], object] = lambda: None,
    ) -> None:
        self._case = case
        self._keep = keep
        self._before = before
        self._after = after
        self._is_first = True
        self._stopwatch = stopwatch(case.function.signature.llvm_types)
        self._values = [address, 1, *case.c_values]

    def time(self) -> float:
        """Runs once from the initial contents; the seconds of the run alone.

        What is only written stays in the caches of the threads that have written it.
        """
        self._before()
        self._case.restore(whole=self._is_first)
        self._is_first = False
        seconds = self._stopwatch(*self._values) * 1e-9
        self._after()
        return seconds

    def outputs(self) -> Mapping[str, NDArray[Any]]:
        """What the last run computed, by name."""
        return self._case.outputs()


@functools.cache
def overhead() -> float:
    """Seconds that the stopwatch shows for a kernel that does nothing."""
    code = jit.compile_module("define void @nothing() { ret void }", target=Target.host())
    loaded = jit.load_object(code, ["nothing"])
    watch = stopwatch(("ptr",))
    return float(np.median([watch(loaded["nothing"], 1, 0) for _ in range(101)])) * 1e-9
