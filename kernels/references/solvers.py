"""NumPy versions of the solvers: factorisations, triangular systems, Gram-Schmidt, Durbin."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def cholesky(n: int, a: Array) -> None:
    """The Cholesky factor in the lower triangle of A; the rest of A is left as it is."""
    a[...] = np.linalg.cholesky(a) + np.triu(a, 1)


def lu(n: int, a: Array) -> None:
    """A := L and U without pivoting."""
    for k in range(n):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])


def ludcmp(n: int, a: Array, b: Array, x: Array, y: Array) -> None:
    """Solves A x = b; A is left with L and U."""
    lu(n, a)
    for i in range(n):
        y[i] = b[i] - a[i, :i] @ y[:i]
    for i in reversed(range(n)):
        x[i] = (y[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]


def trisolv(n: int, lower: Array, x: Array, b: Array) -> None:
    """Solves L x = b."""
    for i in range(n):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]


def gramschmidt(m: int, n: int, a: Array, r: Array, q: Array) -> None:
    """A = Q R by the modified Gram-Schmidt process; A is left with what remains of it."""
    for k in range(n):
        r[k, k] = np.sqrt(a[:, k] @ a[:, k])
        with np.errstate(invalid="ignore", divide="ignore"):  # columns may be dependent
            q[:, k] = a[:, k] / r[k, k]
        r[k, k + 1 :] = q[:, k] @ a[:, k + 1 :]
        a[:, k + 1 :] -= np.outer(q[:, k], r[k, k + 1 :])


def durbin(n: int, r: Array, y: Array) -> None:
    """Solves the Yule-Walker equations of the Toeplitz matrix given by `r`."""
    y[0] = alpha = -r[0]
    beta = 1.0
    for k in range(1, n):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + r[k - 1 :: -1] @ y[:k]) / beta
        y[:k] += alpha * y[k - 1 :: -1]
        y[k] = alpha
