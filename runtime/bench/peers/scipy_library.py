"""Peer: SciPy's BLAS and LAPACK routines beyond NumPy's, filters, distances, special functions."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..bench_kernel import BenchKernel
from .libraries import Unsupported

scipy: Any = importlib.import_module("scipy")
linalg: Any = importlib.import_module("scipy.linalg")
ndimage: Any = importlib.import_module("scipy.ndimage")
signal: Any = importlib.import_module("scipy.signal")
distance: Any = importlib.import_module("scipy.spatial.distance")
special: Any = importlib.import_module("scipy.special")
blas: Any = linalg.blas
lapack: Any = linalg.lapack


def version() -> str:
    """SciPy's version."""
    return f"scipy {scipy.__version__}"


def use_threads(count: int) -> None:
    """Nothing: OPENBLAS_NUM_THREADS says it."""


def prepare(entry: BenchKernel, arguments: list[Any]) -> Callable[[], object]:
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


def _pairwise_distances(v: Values) -> None:
    v["distance"][...] = distance.cdist(v["x"], v["y"])


def _biquad_bank(v: Values) -> None:
    for x, b, a, y in zip(v["x"], v["b"], v["a"], v["y"], strict=True):
        y[...] = signal.lfilter(b, np.array((1, *a), np.float32), x)


def _exponential_average(v: Values) -> None:
    x, tenth = v["x"], np.float32(0.1)
    before = (1 - tenth) * x[:1]
    v["y"][...] = signal.lfilter([tenth], [1, tenth - 1], x, axis=0, zi=before)[0]


def _fir(v: Values) -> None:
    v["y"][...] = signal.oaconvolve(v["x"], v["h"][::-1], "valid")


def _median3_u8(v: Values) -> None:
    v["dst"][...] = ndimage.median_filter(v["src"], 3)[1:-1, 1:-1]


def _black_scholes(v: Values) -> None:
    s, k, t = v["spot"], v["strike"], v["time"]
    deviation = np.float32(0.3) * np.sqrt(t)
    d1 = (np.log(s / k) + np.float32(0.065) * t) / deviation
    discounted = k * np.exp(np.float32(-0.02) * t)
    v["call"][...] = s * special.ndtr(d1) - discounted * special.ndtr(d1 - deviation)
    v["put"][...] = v["call"] - s + discounted


ROUTINES: Mapping[str, Callable[[Values], None]] = {
    "polybench/gemm": _gemm,
    "gemm/gemm": _gemm,
    "polybench/syrk": _syrk,
    "polybench/syr2k": _syr2k,
    "polybench/symm": _symm,
    "polybench/trmm": _trmm,
    "polybench/cholesky": _cholesky,
    "polybench/trisolv": _trisolv,
    "field/pairwise_distances": _pairwise_distances,
    "field/biquad_bank": _biquad_bank,
    "field/exponential_average": _exponential_average,
    "field/fir": _fir,
    "field/median3_u8": _median3_u8,
    "field/black_scholes": _black_scholes,
}
"""What runs a kernel, by its source in the catalogue; arguments come by name."""
