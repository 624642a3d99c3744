"""NumPy versions of PolyBench's data-mining and dynamic-programming kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def correlation(
    m: int, n: int, float_n: float, data: Array, corr: Array, mean: Array, stddev: Array
) -> None:
    """The correlation matrix of the columns of data, which are left normalised."""
    mean[...] = data.sum(axis=0) / float_n
    data -= mean
    stddev[...] = np.sqrt((data * data).sum(axis=0) / float_n)
    stddev[stddev <= 0.1] = 1.0
    data /= np.sqrt(float_n) * stddev
    np.matmul(data.T, data, out=corr)
    np.fill_diagonal(corr, 1.0)


def covariance(m: int, n: int, float_n: float, data: Array, cov: Array, mean: Array) -> None:
    """The covariance matrix of the columns of data, which are left centred."""
    mean[...] = data.sum(axis=0) / float_n
    data -= mean
    cov[...] = data.T @ data / (float_n - 1.0)


def floyd_warshall(n: int, path: Array) -> None:
    """The lengths of the shortest paths."""
    for k in range(n):
        np.minimum(path, path[:, k, None] + path[k], out=path)


def nussinov(n: int, seq: Array, table: Array) -> None:
    """The largest number of base pairs in every part of the sequence."""
    pairs = (seq[:, None] + seq == 3).astype(table.dtype)
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            bond = pairs[i, j] if i < j - 1 else 0
            best = max(table[i, j], table[i, j - 1], table[i + 1, j], table[i + 1, j - 1] + bond)
            if j > i + 1:
                best = max(best, (table[i, i + 1 : j] + table[i + 2 : j + 1, j]).max())
            table[i, j] = best
