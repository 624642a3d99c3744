"""Peer: the NumPy references of the kernels, where these are vectorised."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ....kernels.references import REFERENCES
from ..bench_kernel import BenchKernel
from .libraries import Unsupported

# These references run a loop of Python for every element.
_ELEMENT_BY_ELEMENT = frozenset(("polybench/nussinov", "polybench/seidel-2d", "tiramisu/seidel2d"))


def version() -> str:
    """NumPy's version, and the kernels that OpenBLAS has chosen for this processor."""
    return f"numpy {np.__version__} with OpenBLAS for {blas_kernels()}"


def use_threads(count: int) -> None:
    """Nothing: OPENBLAS_NUM_THREADS says it."""


def prepare(entry: BenchKernel, arguments: list[Any]) -> Callable[[], object]:
    """The reference of a kernel; raises Unsupported where it is no NumPy program."""
    if entry.source not in REFERENCES:
        raise Unsupported("there is no NumPy form of this kernel")
    if entry.source in _ELEMENT_BY_ELEMENT:
        raise Unsupported("NumPy has no vectorised form of this kernel")
    return functools.partial(REFERENCES[entry.source], *arguments)


def blas_kernels() -> str:
    """The name of OpenBLAS's kernels in use, or what the environment asks for."""
    for path in (Path(np.__file__).parent.parent / "numpy.libs").glob("*openblas*"):
        library = ctypes.CDLL(str(path))
        for name in ("scipy_openblas_get_corename64_", "openblas_get_corename64_"):
            function = getattr(library, name, None)
            if function is not None:
                function.restype = ctypes.c_char_p
                return function().decode()
    return os.environ.get("OPENBLAS_CORETYPE", "unknown")
