"""NumPy versions of scans, filters, recurrences and batches of small problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def integral_image(rows: int, columns: int, image: Array, sums: Array) -> None:
    """The sums of all pixels above and to the left."""
    np.cumsum(image, 1, out=sums)
    np.cumsum(sums, 0, out=sums)


def biquad_bank(channels: int, samples: int, x: Array, b: Array, a: Array, y: Array) -> None:
    """A second-order recursive filter for each channel, in direct form I."""
    padded = np.pad(x, ((0, 0), (2, 0)))
    y[...] = sum(b[:, k, None] * padded[:, 2 - k : 2 - k + samples] for k in range(3))
    for t in range(1, samples):
        y[:, t] -= a[:, 0] * y[:, t - 1]
        if t > 1:
            y[:, t] -= a[:, 1] * y[:, t - 2]


def exponential_average(samples: int, channels: int, x: Array, y: Array) -> None:
    """An exponential moving average."""
    y[0] = x[0]
    for t in range(1, samples):
        y[t] = np.float32(0.9) * y[t - 1] + np.float32(0.1) * x[t]


def fir(samples: int, taps: int, x: Array, h: Array, y: Array) -> None:
    """A finite impulse response filter."""
    y[...] = np.correlate(x, h, "valid")


def thomas(axis: int) -> Callable[..., None]:
    """Thomas's algorithm, the equations of a system along `axis`."""

    def run(batch: int, n: int, *arrays: Array) -> None:
        lower, diagonal, upper, gamma, x = (np.moveaxis(a, axis, 0) for a in arrays)
        gamma[0], x[0] = upper[0] / diagonal[0], x[0] / diagonal[0]
        for i in range(1, n):
            pivot = diagonal[i] - lower[i] * gamma[i - 1]
            gamma[i], x[i] = upper[i] / pivot, (x[i] - lower[i] * x[i - 1]) / pivot
        for i in reversed(range(n - 1)):
            x[i] -= gamma[i] * x[i + 1]

    return run


def batched_matmul8(batch: int, a: Array, b: Array, c: Array) -> None:
    """Products of 8 x 8 matrices."""
    np.matmul(a, b, out=c)


def batched_cholesky(batch: int, n: int, a: Array) -> None:
    """Cholesky factors; what is above the diagonals stays."""
    lower = np.tril(a)
    symmetric = lower + np.tril(a, -1).swapaxes(1, 2)
    a += np.linalg.cholesky(symmetric) - lower


def transform_points(n: int, m: Array, x: Array, y: Array) -> None:
    """A matrix times many points."""
    np.matmul(x, m.T, out=y)


def dynamic_time_warping(n: int, m: int, x: Array, y: Array, cost: Array) -> None:
    """The cost of aligning two series, one anti-diagonal after the other."""
    for diagonal in range(2, n + m + 1):
        i = np.arange(max(1, diagonal - m), min(n, diagonal - 1) + 1)
        j = diagonal - i
        least = np.minimum(np.minimum(cost[i - 1, j], cost[i, j - 1]), cost[i - 1, j - 1])
        cost[i, j] = np.abs(x[i - 1] - y[j - 1]) + least


def polynomial_product(n: int, a: Array, b: Array, c: Array) -> None:
    """The coefficients of the product of two polynomials."""
    c[...] = np.convolve(a, b)


REFERENCES: Mapping[str, Callable[..., None]] = MappingProxyType(
    {
        "tridiagonal_rows": thomas(1),
        "tridiagonal_columns": thomas(0),
        **{
            function.__name__: function
            for function in (
                *(integral_image, biquad_bank, exponential_average, fir, batched_matmul8),
                *(batched_cholesky, transform_points, dynamic_time_warping),
                *(polynomial_product,),
            )
        },
    }
)
