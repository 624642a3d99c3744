"""Peer: Numba on the kernel's loops as a Python function."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...program import load
from ..bench_kernel import BenchKernel
from ..doall_loops import parallel_operations
from .libraries import Unsupported
from .python_loops import python_loops

numba: Any = importlib.import_module("numba")

# As -ffast-math, but infinities stay what they are.
_RELAXED = {"reassoc", "nsz", "arcp", "contract", "afn"}

_threads = [1]


def version() -> str:
    """Numba's version."""
    return f"numba {numba.__version__}"


def use_threads(count: int) -> None:
    """Sets the threads of parallel loops."""
    _threads[0] = count
    numba.set_num_threads(count)


def prepare(entry: BenchKernel, arguments: list[Any]) -> Callable[[], object]:
    """The compiled loops; raises Unsupported."""
    function = load(entry.text)[entry.function]
    several = _threads[0] > 1
    loops = parallel_operations(function.function, function.scop) if several else set[Any]()
    if several and not loops:
        raise Unsupported("no loop of the program can be parallel as it is")
    scope: dict[str, Any] = {"np": np, "math": math, "prange": numba.prange}
    exec(python_loops(function.function, loops), scope)
    compile_loops = numba.njit(error_model="numpy", parallel=several, fastmath=_RELAXED)
    compiled = compile_loops(scope["kernel"])
    if entry.element_type == "f32":
        arguments = [np.float32(a) if isinstance(a, float) else a for a in arguments]
    compiled.compile(tuple(numba.typeof(argument) for argument in arguments))

    def run() -> None:
        compiled(*arguments)

    return run
