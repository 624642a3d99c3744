"""Machine code as a variant: called through a small compiled stopwatch, without Python's overhead.

The stopwatch has the kernel's own signature, after the address of the kernel:

    int64_t stopwatch(void *kernel, int64_t n, double alpha, double *A)
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.catalogue import KernelEntry
from ...passes.target import Target
from .. import jit
from .case import Case

_C_TYPES = {
    "i64": ctypes.c_int64,
    "double": ctypes.c_double,
    "float": ctypes.c_float,
    "ptr": ctypes.c_void_p,
}
_CLOCK_MONOTONIC = 1


class NativeRun:
    """The kernel at an address, ready to run a case; `keep` holds what must stay in memory.

    `before` is called before each run.
    """

    def __init__(
        self,
        case: Case,
        address: int,
        keep: object,
        before: Callable[[], object] = lambda: None,
    ) -> None:
        self._case = case
        self._keep = keep
        self._before = before
        self._stopwatch = _stopwatch(signature(case.entry))
        self._values = [address, *case.c_values]

    def time(self) -> float:
        """Runs once from the initial contents; the seconds of the run alone."""
        self._before()
        self._case.restore()
        return self._stopwatch(*self._values) * 1e-9

    def outputs(self) -> Mapping[str, NDArray[Any]]:
        """What the last run computed, by name."""
        return self._case.outputs()


def signature(entry: KernelEntry) -> tuple[str, ...]:
    """The LLVM types of a kernel's arguments."""
    scalar = "float" if entry.element_type == "f32" else "double"
    return (
        *["i64"] * len(entry.parameters),
        *[scalar] * len(entry.scalars),
        *["ptr"] * len(entry.arrays),
    )


@functools.cache
def _stopwatch(types: tuple[str, ...]) -> Any:
    arguments = ", ".join(f"{kind} %a{number}" for number, kind in enumerate(types))
    now = f"  call i32 @clock_gettime(i32 {_CLOCK_MONOTONIC}, ptr %time)"
    text = f"""
declare i32 @clock_gettime(i32, ptr)
define internal i64 @now(ptr %time) {{
{now}
  %seconds = load volatile i64, ptr %time
  %rest = getelementptr i64, ptr %time, i64 1
  %part = load volatile i64, ptr %rest
  %whole = mul i64 %seconds, 1000000000
  %nanoseconds = add i64 %whole, %part
  ret i64 %nanoseconds
}}
define i64 @stopwatch(ptr %kernel, {arguments}) {{
  %time = alloca [2 x i64]
  %start = call i64 @now(ptr %time)
  call void %kernel({arguments})
  %stop = call i64 @now(ptr %time)
  %result = sub i64 %stop, %start
  ret i64 %result
}}
"""
    code = jit.compile_module(text, target=Target.host())
    loaded = jit.load_object(code, ["stopwatch"])
    _loaded.append(loaded)
    parameters = [_C_TYPES[kind] for kind in types]
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, *parameters)(loaded["stopwatch"])


# Stopwatches stay in memory for as long as the process.
_loaded: list[jit.LoadedObject] = []


@functools.cache
def overhead() -> float:
    """Seconds that the stopwatch shows for a kernel that does nothing."""
    code = jit.compile_module("define void @nothing() { ret void }", target=Target.host())
    loaded = jit.load_object(code, ["nothing"])
    stopwatch = _stopwatch(("ptr",))
    return float(np.median([stopwatch(loaded["nothing"], 0) for _ in range(101)])) * 1e-9
