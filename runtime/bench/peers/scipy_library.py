"""Peer: SciPy's BLAS and LAPACK routines beyond NumPy's."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ....kernels.catalogue import KernelEntry
from .libraries import Unsupported

scipy: Any = importlib.import_module("scipy")
linalg: Any = importlib.import_module("scipy.linalg")
blas: Any = linalg.blas
lapack: Any = linalg.lapack


def version() -> str:
    """SciPy's version."""
    return f"scipy {scipy.__version__}"


def use_threads(count: int) -> None:
    """Nothing: OPENBLAS_NUM_THREADS says it."""


def prepare(entry: KernelEntry, arguments: list[Any]) -> Callable[[], object]:
    """The routine on the arrays; raises Unsupported."""
    routine = ROUTINES.get(entry.source)
    if routine is None:
        raise Unsupported("SciPy has no routine for this kernel")
    values = dict(zip(entry.argument_names, arguments, strict=True))
    return lambda: routine(values)


Values = Mapping[str, Any]

# Fortran sees the transpose of a row-major array: its upper triangle is our lower one.


def _gemm(v: Values) -> None:
    gemm = blas.dgemm if v["C"].dtype == np.float64 else blas.sgemm
    gemm(v.get("alpha", 1.0), v["B"].T, v["A"].T, v.get("beta", 1.0), v["C"].T, overwrite_c=True)


def _syrk(v: Values) -> None:
    blas.dsyrk(v["alpha"], v["A"].T, v["beta"], v["C"].T, trans=1, overwrite_c=True)


def _syr2k(v: Values) -> None:
    blas.dsyr2k(v["alpha"], v["A"].T, v["B"].T, v["beta"], v["C"].T, trans=1, overwrite_c=True)


def _symm(v: Values) -> None:
    blas.dsymm(v["alpha"], v["A"].T, v["B"].T, v["beta"], v["C"].T, side=1, overwrite_c=True)


def _trmm(v: Values) -> None:
    blas.dtrmm(v["alpha"], v["A"].T, v["B"].T, side=1, trans_a=1, diag=1, overwrite_b=True)


def _cholesky(v: Values) -> None:
    lapack.dpotrf(v["A"].T, lower=0, clean=0, overwrite_a=1)


def _trisolv(v: Values) -> None:
    v["x"][...] = linalg.solve_triangular(v["L"], v["b"], lower=True, check_finite=False)


ROUTINES: Mapping[str, Callable[[Values], None]] = {
    "polybench/gemm": _gemm,
    "gemm/gemm": _gemm,
    "polybench/syrk": _syrk,
    "polybench/syr2k": _syr2k,
    "polybench/symm": _symm,
    "polybench/trmm": _trmm,
    "polybench/cholesky": _cholesky,
    "polybench/trisolv": _trisolv,
}
"""What runs a kernel, by its source in the catalogue; arguments come by name."""
